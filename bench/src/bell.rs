//! A bell measures the time that a wake-up takes: a thread asks for it, and the task or fiber that
//! the thread wakes rings it. It knows neither the task or fiber that sleeps nor the way it is
//! woken.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

/// Rung by a task or a fiber, and waited for by the thread that made it.
pub(crate) struct Bell {
    start: Instant,
    /// When it was rung, in nanoseconds from the start; or [`ASKED`] or [`OVER`].
    rung: AtomicU64,
    waiter: Thread,
}

/// The ringer should ring.
const ASKED: u64 = 0;
/// The ringer should end: the bell will not be asked for again.
const OVER: u64 = u64::MAX;

/// What the ringer has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Ring.
    Ring,
    /// Sleep until it is woken.
    Sleep,
    /// End.
    End,
}

impl Bell {
    /// Makes a bell for which the calling thread waits. It is never freed, since the ringer still
    /// uses it after the waiter has seen the ring.
    pub(crate) fn leaked() -> &'static Self {
        // The bell starts as rung before the first request. That is harmless.
        let (start, rung, waiter) = (Instant::now(), AtomicU64::new(1), thread::current());
        Box::leak(Box::new(Self { start, rung, waiter }))
    }

    /// Asks for a ring and returns the time. The caller wakes the ringer after this.
    pub(crate) fn ask(&self) -> u64 {
        self.rung.store(ASKED, Ordering::Relaxed);
        self.now()
    }

    /// Tells the ringer to end. The caller wakes the ringer after this.
    pub(crate) fn end(&self) {
        self.rung.store(OVER, Ordering::Relaxed);
    }

    /// Returns what the ringer has to do.
    pub(crate) fn wish(&self) -> Wish {
        match self.rung.load(Ordering::Acquire) {
            ASKED => Wish::Ring,
            OVER => Wish::End,
            _ => Wish::Sleep,
        }
    }

    pub(crate) fn ring(&self) {
        self.rung.store(self.now(), Ordering::Release);
        self.waiter.unpark();
    }

    /// Rings each time it is asked to, until it is told to end. In between it calls `sleep`, which
    /// may return for no reason.
    pub(crate) fn attend(&self, sleep: fn()) {
        loop {
            match self.wish() {
                Wish::Ring => self.ring(),
                Wish::Sleep => sleep(),
                Wish::End => return,
            }
        }
    }

    /// Sleeps until the bell has been rung, and returns the time of the ring.
    pub(crate) fn wait_asleep(&self) -> u64 {
        self.wait(thread::park)
    }

    /// Spins until the bell has been rung, and returns the time of the ring.
    pub(crate) fn wait_awake(&self) -> u64 {
        self.wait(hint::spin_loop)
    }

    fn wait(&self, pause: fn()) -> u64 {
        loop {
            match self.rung.load(Ordering::Acquire) {
                ASKED => pause(),
                rung => return rung,
            }
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Bell;
    use std::thread;

    #[test]
    fn the_bell_rings_once_for_each_request() {
        let bell = Bell::leaked();
        let ringer = thread::spawn(|| bell.attend(thread::park));
        let mut last = 0;
        for wait in [Bell::wait_asleep, Bell::wait_awake, Bell::wait_asleep] {
            let asked = bell.ask();
            ringer.thread().unpark();
            let rung = wait(bell);
            assert!(last < asked && asked <= rung, "{last} {asked} {rung}");
            last = rung;
        }
        bell.end();
        ringer.thread().unpark();
        ringer.join().expect("it ends");
    }
}
