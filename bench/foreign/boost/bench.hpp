// What every workload of the Boost peer shares: the job it is given and the clock it is timed by.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

// One measurement, as the command line asks for it.
struct Job {
    int threads = 1;
    std::chrono::milliseconds target{200};
};

// Stack of each coroutine in bytes, the same as the Rust peers use.
inline constexpr std::size_t kStackBytes = 64 * 1024;

// Runs `batch(n)` with n doubling until it lasts for the job's target: that was the warm-up and the search
// for n. Then the same n again, until a run lasts long enough; that run is the measurement.
template <typename Batch>
double ns_per_op(const Job& job, Batch&& batch) {
    using Clock = std::chrono::steady_clock;
    auto time = [&](std::uint64_t n) {
        auto start = Clock::now();
        batch(n);
        return Clock::now() - start;
    };
    std::uint64_t n = 1;
    while (time(n) < job.target) n *= 2;
    for (;; n *= 2) {
        auto taken = time(n);
        if (taken >= job.target) return std::chrono::duration<double, std::nano>(taken).count() / double(n);
    }
}

// The values that came back must add up to start + (start + 1) + ..., n of them; unsigned, so wrapping.
inline void check_sum(std::uint64_t sum, std::uint64_t start, std::uint64_t n) {
    std::uint64_t expected = n % 2 == 0 ? n / 2 * (2 * start + n - 1) : n * (start + (n - 1) / 2);
    if (sum != expected) throw std::runtime_error("the values that came back do not add up");
}

// The workloads: each is a file of its own and prints its metrics.
void run_switch(const Job& job);
void run_create(const Job& job);
