// fib: each number starts a fiber for the one before it, computes the one before that itself, and
// joins the fiber.
#include "bench.hpp"
#include "workers.hpp"

#include <boost/fiber/fiber.hpp>

namespace {

std::uint64_t fib(int n) {
    if (n < 2) return std::uint64_t(n);
    std::uint64_t before = 0;
    boost::fibers::fiber child([&before, n] { before = fib(n - 1); });
    std::uint64_t own = fib(n - 2);
    child.join();
    return own + before;
}

}  // namespace

void run_fib(const Job& job) {
    const int n = job.is_quick() ? 18 : 27;
    std::uint64_t expected = 0;
    std::uint64_t next = 1;
    for (int i = 0; i < n; ++i) {
        std::uint64_t sum = expected + next;
        expected = next;
        next = sum;
    }
    Workers workers(job.threads);
    Cost number = cost_per_op(job, [&](std::uint64_t times) {
        for (std::uint64_t i = 0; i < times; ++i) {
            if (fib(n) != expected) throw std::runtime_error("the number is wrong");
        }
    });
    // Each number beyond the first two starts one, which makes one less than the number after the
    // last.
    number.divided_by(double(next - 1)).print();
}
