//! A countdown lets one thread wait for many tasks. Each task that is done arrives; the thread that
//! began the countdown sleeps until all have arrived. It does not spin, since it would take a
//! processor from the tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};

/// A number of arrivals to come, and the thread that waits for them.
pub(crate) struct Countdown {
    left: AtomicUsize,
    waiter: Thread,
}

impl Countdown {
    /// Makes a countdown without arrivals to come, for which the calling thread waits. It is never
    /// freed: so tasks share it without counting references, and the last task may still use it
    /// when the waiter has continued.
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::new(Self { left: AtomicUsize::new(0), waiter: thread::current() }))
    }

    /// Sets the number of arrivals to come. The caller hands out the right to arrive after this.
    pub(crate) fn set(&self, count: usize) {
        self.left.store(count, Ordering::Relaxed);
    }

    /// Counts one arrival, and wakes the waiter after the last.
    pub(crate) fn arrive(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// Returns whether all have arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Sleeps until all have arrived. Only the thread that made the countdown may call it.
    pub(crate) fn wait(&self) {
        while !self.is_over() {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Countdown;

    #[test]
    fn the_last_arrival_ends_the_wait() {
        let countdown = Countdown::leaked();
        countdown.wait();
        countdown.set(3);
        let threads = [(); 3].map(|()| std::thread::spawn(|| countdown.arrive()));
        countdown.wait();
        assert!(countdown.is_over());
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    }
}
