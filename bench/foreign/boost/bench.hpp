// Shared by all workloads of the Boost peer: the job and the clocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <stdexcept>

// One measurement, as the command line describes it.
struct Job {
    int threads = 1;
    std::chrono::milliseconds target{200};

    // Whether the run should only show that everything works: workloads of a fixed size are smaller
    // then.
    bool is_quick() const { return target < std::chrono::milliseconds(100); }
};

// What one operation takes, in nanoseconds: wall-clock time, and processor time of all threads
// together.
struct Cost {
    double ns = 0;
    double cpu_ns = 0;

    // The cost of one of `parts` parts of the operation.
    Cost divided_by(double parts) const { return {ns / parts, cpu_ns / parts}; }

    // The sum of both.
    Cost plus(const Cost& other) const { return {ns + other.ns, cpu_ns + other.cpu_ns}; }

    void print() const { std::printf("ns %.6f\ncpu_ns %.6f\n", ns, cpu_ns); }
};

// Stack of each coroutine in bytes, the same as the Rust peers use.
inline constexpr std::size_t kStackBytes = 64 * 1024;

// User and system time of all threads, in nanoseconds.
inline double cpu_time() {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

// The cost of running `work` once.
template <typename Work>
Cost cost_of(Work&& work) {
    using Clock = std::chrono::steady_clock;
    double cpu = cpu_time();
    auto start = Clock::now();
    work();
    double taken = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    return {taken, cpu_time() - cpu};
}

// Runs `batch(n)`, doubling n until a run lasts for the job's target: that is the warm-up and the
// search for n. Then runs the same n again, until a run lasts long enough; that run is the
// measurement.
template <typename Batch>
Cost cost_per_op(const Job& job, Batch&& batch) {
    auto cost = [&](std::uint64_t n) { return cost_of([&] { batch(n); }); };
    double target = std::chrono::duration<double, std::nano>(job.target).count();
    std::uint64_t n = 1;
    while (cost(n).ns < target) n *= 2;
    for (;; n *= 2) {
        Cost all = cost(n);
        if (all.ns >= target) return all.divided_by(double(n));
    }
}

// The same without processor time.
template <typename Batch>
double ns_per_op(const Job& job, Batch&& batch) {
    return cost_per_op(job, batch).ns;
}

// Checks that the values that came back add up to start + (start + 1) + ..., n of them; unsigned,
// so wrapping.
inline void check_sum(std::uint64_t sum, std::uint64_t start, std::uint64_t n) {
    std::uint64_t expected = n % 2 == 0 ? n / 2 * (2 * start + n - 1) : n * (start + (n - 1) / 2);
    if (sum != expected) throw std::runtime_error("the values that came back do not add up");
}

// The workloads. Each is a file of its own and prints its metrics.
void run_switch(const Job& job);
void run_create(const Job& job);
void run_yield(const Job& job);
void run_spawn_seq(const Job& job);
void run_spawn_batch_100k(const Job& job);
void run_fib(const Job& job);
void run_parked(const Job& job);
