// spawn_batch_100k: fibers that end at once, all started before the first is joined.
#include "bench.hpp"
#include "workers.hpp"

#include <boost/fiber/fiber.hpp>

void run_spawn_batch_100k(const Job& job) {
    constexpr int kFibers = 100'000;
    Workers workers(job.threads);
    auto round = [] {
        std::vector<boost::fibers::fiber> fibers;
        fibers.reserve(kFibers);
        for (int i = 0; i < kFibers; ++i) fibers.emplace_back([] {});
        for (boost::fibers::fiber& fiber : fibers) fiber.join();
    };
    Cost cost = cost_per_op(job, [&](std::uint64_t rounds) {
        for (std::uint64_t i = 0; i < rounds; ++i) round();
    });
    cost.divided_by(kFibers).print();
}
