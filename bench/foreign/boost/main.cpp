// The Boost peer: `prog WORKLOAD THREADS [key=value ...]` prints one line `metric value` for each
// metric.
#include "bench.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Workload {
    const char* name;
    void (*run)(const Job&);
};

constexpr Workload kWorkloads[] = {
    {"switch", run_switch},
    {"create", run_create},
    {"yield", run_yield},
    {"spawn_seq", run_spawn_seq},
    {"spawn_batch_100k", run_spawn_batch_100k},
    {"fib", run_fib},
    {"parked", run_parked},
};

Job parse(int argc, char** argv) {
    Job job;
    job.threads = std::atoi(argv[2]);
    for (int i = 3; i < argc; ++i) {
        if (std::strncmp(argv[i], "millis=", 7) != 0) throw std::invalid_argument("unknown setting");
        job.target = std::chrono::milliseconds(std::atoi(argv[i] + 7));
    }
    return job;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s WORKLOAD THREADS [millis=N]\n", argv[0]);
        return 2;
    }
    for (const Workload& workload : kWorkloads) {
        if (std::strcmp(workload.name, argv[1]) != 0) continue;
        try {
            workload.run(parse(argc, argv));
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
            return 1;
        }
    }
    std::fprintf(stderr, "the Boost peer has no workload '%s'\n", argv[1]);
    return 2;
}
