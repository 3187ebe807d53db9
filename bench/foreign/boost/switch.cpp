// switch: one coroutine that passes out 0, 1, 2, ... on a `boost::context::fiber`. A fiber of
// Boost.Context carries no value, so the number goes through a variable that both sides see.
#include "bench.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <memory>
#include <utility>

namespace ctx = boost::context;

void run_switch(const Job& job) {
    std::uint64_t value = 0;
    bool stop = false;
    ctx::fiber counter{std::allocator_arg, ctx::fixedsize_stack(kStackBytes), [&](ctx::fiber&& resumer) {
                           for (std::uint64_t i = 0; !stop; ++i) {
                               value = i;
                               resumer = std::move(resumer).resume();
                           }
                           return std::move(resumer);
                       }};
    std::uint64_t start = 0;
    double round_trip = ns_per_op(job, [&](std::uint64_t n) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            counter = std::move(counter).resume();
            sum += value;
        }
        check_sum(sum, start, n);
        start += n;
    });
    stop = true;
    counter = std::move(counter).resume();
    std::printf("ns %.6f\n", round_trip / 2);
}
