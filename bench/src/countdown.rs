//! Waiting for the last of many: whoever is done arrives, and the thread that began it all sleeps until all have. It does
//! not spin, since it would take a processor from those it waits for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};

/// So many arrivals to come, and a thread that waits for them.
pub(crate) struct Countdown {
    left: AtomicUsize,
    waiter: Thread,
}

impl Countdown {
    /// For the calling thread to wait on, with none to come. It is never freed: tasks share it for nothing, and the last
    /// of them still uses it when the waiter has gone on.
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::new(Self { left: AtomicUsize::new(0), waiter: thread::current() }))
    }

    /// So many are to come. Whoever hands out the right to arrive does so after this.
    pub(crate) fn set(&self, count: usize) {
        self.left.store(count, Ordering::Relaxed);
    }

    /// One of them is there.
    pub(crate) fn arrive(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// Whether all are there.
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Sleeps until all are there. For the thread that made it.
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
    fn the_last_one_ends_the_wait() {
        let countdown = Countdown::leaked();
        countdown.wait();
        countdown.set(3);
        let threads = [(); 3].map(|()| std::thread::spawn(|| countdown.arrive()));
        countdown.wait();
        assert!(countdown.is_over());
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    }
}
