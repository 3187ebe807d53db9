// yield: fibers that yield in turn.
#include "bench.hpp"
#include "workers.hpp"

#include <boost/fiber/fiber.hpp>

void run_yield(const Job& job) {
    constexpr int kFibers = 1'000;
    const int yields = job.is_quick() ? 100 : 5'000;
    Workers workers(job.threads);
    auto round = [&] {
        std::vector<boost::fibers::fiber> fibers;
        fibers.reserve(kFibers);
        for (int i = 0; i < kFibers; ++i) {
            fibers.emplace_back([yields] {
                for (int k = 0; k < yields; ++k) boost::this_fiber::yield();
            });
        }
        for (boost::fibers::fiber& fiber : fibers) fiber.join();
    };
    Cost cost = cost_per_op(job, [&](std::uint64_t rounds) {
        for (std::uint64_t i = 0; i < rounds; ++i) round();
    });
    cost.divided_by(double(kFibers) * yields).print();
}
