// Threads that run fibers of Boost.Fiber.
#pragma once

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/operations.hpp>
#include <mutex>
#include <thread>
#include <vector>

// This thread, and as many others as are needed for the given number. A single thread keeps its
// default scheduler. Several threads get the library's work-stealing scheduler.
class Workers {
public:
    explicit Workers(int threads) {
        if (threads == 1) return;
        for (int i = 1; i < threads; ++i) others_.emplace_back([this, threads] { work(threads); });
        schedule(threads);
    }

    ~Workers() {
        {
            std::lock_guard<boost::fibers::mutex> lock(mutex_);
            over_ = true;
        }
        end_.notify_all();
        for (std::thread& other : others_) other.join();
    }

    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

private:
    // Waits until all threads have arrived here.
    static void schedule(int threads) {
        boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(threads);
    }

    // A thread runs fibers whenever its own work has to wait.
    void work(int threads) {
        schedule(threads);
        std::unique_lock<boost::fibers::mutex> lock(mutex_);
        end_.wait(lock, [this] { return over_; });
    }

    boost::fibers::mutex mutex_;
    boost::fibers::condition_variable end_;
    bool over_ = false;
    std::vector<std::thread> others_;
};
