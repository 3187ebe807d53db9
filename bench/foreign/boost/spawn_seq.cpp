// spawn_seq: a fiber is started and joined, and then the next.
#include "bench.hpp"
#include "workers.hpp"

#include <boost/fiber/fiber.hpp>

void run_spawn_seq(const Job& job) {
    Workers workers(job.threads);
    cost_per_op(job, [](std::uint64_t n) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            boost::fibers::fiber([&sum, i] { sum += i; }).join();
        }
        check_sum(sum, 0, n);
    }).print();
}
