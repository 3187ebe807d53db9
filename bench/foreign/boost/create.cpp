// create: a new `boost::context::fiber` each time, run to its end. The stack comes from and returns
// to the pool that Boost.Context offers for this (`pooled_fixedsize_stack`).
#include "bench.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdio>
#include <memory>
#include <utility>

namespace ctx = boost::context;

void run_create(const Job& job) {
    ctx::pooled_fixedsize_stack stacks(kStackBytes);
    std::uint64_t start = 0;
    double ns = ns_per_op(job, [&](std::uint64_t n) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = start; i < start + n; ++i) {
            ctx::fiber life{std::allocator_arg, stacks, [&sum, i](ctx::fiber&& resumer) {
                                sum += i;
                                return std::move(resumer);
                            }};
            life = std::move(life).resume();
        }
        check_sum(sum, start, n);
        start += n;
    });
    std::printf("ns %.6f\n", ns);
}
