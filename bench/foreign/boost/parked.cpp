// parked: fibers that wait for one notice to all. Memory is given back before each part of them, in
// time that does not count. There are fewer than other peers have: a million would take 12 GB.
#include "bench.hpp"
#include "workers.hpp"

#include <boost/fiber/fiber.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/mman.h>

namespace {

// Memory that was touched and is held until it is needed, so that page faults do not wait for a
// host that has taken it back. The Rust peers have the same.
class Reserve {
public:
    explicit Reserve(std::size_t length) : length_(length), left_(length) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("no memory for the measurement");
        memory_ = static_cast<char*>(memory);
        madvise(memory_, length, MADV_NOHUGEPAGE);
        std::memset(memory_, 1, length);
    }

    ~Reserve() { munmap(memory_, length_); }

    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

    // Gives `bytes` bytes, whole pages, back to the kernel.
    void release(std::size_t bytes) {
        left_ -= bytes;
        madvise(memory_ + left_, bytes, MADV_DONTNEED);
    }

private:
    char* memory_;
    std::size_t length_;
    std::size_t left_;
};

// Resident memory and page tables, in bytes.
double memory() {
    std::ifstream status("/proc/self/status");
    double bytes = 0;
    for (std::string line; std::getline(status, line);) {
        bool counts = line.rfind("VmRSS:", 0) == 0 || line.rfind("VmPTE:", 0) == 0;
        if (counts) bytes += std::stod(line.substr(6)) * 1024;
    }
    return bytes;
}

// Fibers that wait.
class Crowd {
public:
    // Starts `more` fibers, and returns when all of them wait.
    void park(int more) {
        there_ = 0;
        for (int i = 0; i < more; ++i) fibers_.emplace_back([this, more] { wait(more); });
        std::unique_lock<boost::fibers::mutex> lock(mutex_);
        all_there_.wait(lock, [&] { return there_ == more; });
    }

    // Wakes all fibers, and returns when they have ended.
    void wake() {
        {
            std::lock_guard<boost::fibers::mutex> lock(mutex_);
            ++round_;
        }
        gate_.notify_all();
        for (boost::fibers::fiber& fiber : fibers_) fiber.join();
        fibers_.clear();
    }

private:
    void wait(int expected) {
        std::unique_lock<boost::fibers::mutex> lock(mutex_);
        if (++there_ == expected) all_there_.notify_one();
        gate_.wait(lock, [this, round = round_] { return round_ != round; });
    }

    boost::fibers::mutex mutex_;
    boost::fibers::condition_variable all_there_;
    boost::fibers::condition_variable gate_;
    int there_ = 0;
    int round_ = 0;
    std::vector<boost::fibers::fiber> fibers_;
};

}  // namespace

void run_parked(const Job& job) {
    // How many fibers come at a time, and about what one takes in bytes.
    constexpr int kPart = 10'000;
    constexpr std::size_t kBytes = 12'800;
    const int many = job.is_quick() ? 20'000 : 100'000;
    Workers workers(job.threads);
    Crowd crowd;
    Reserve reserve(kBytes * many);
    const double before = memory();
    Cost spent;
    for (int there = kPart; there <= many; there += kPart) {
        reserve.release(kBytes * kPart);
        spent = spent.plus(cost_of([&] { crowd.park(kPart); }));
        // In place of the released memory, this process now holds fibers.
        double bytes = (memory() - before + double(kBytes) * there) / there;
        Cost one = spent.divided_by(there);
        if (there == kPart) std::printf("bytes_100k %.6f\npark_ns_100k %.6f\n", bytes, one.ns);
        if (there == many) {
            std::printf("bytes %.6f\npark_ns %.6f\npark_cpu_ns %.6f\n", bytes, one.ns, one.cpu_ns);
        }
    }
    Cost wake = cost_of([&] { crowd.wake(); }).divided_by(many);
    Cost warm = cost_of([&] { crowd.park(kPart); }).divided_by(kPart);
    Cost wake_fewer = cost_of([&] { crowd.wake(); }).divided_by(kPart);
    std::printf("wake_ns %.6f\nwake_cpu_ns %.6f\n", wake.ns, wake.cpu_ns);
    std::printf("warm_park_ns %.6f\nwake_ns_100k %.6f\n", warm.ns, wake_fewer.ns);
}
