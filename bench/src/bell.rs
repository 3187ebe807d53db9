//! A bell: a thread asks for it, whoever it has woken rings it, and the time in between is what waking takes. Knows neither
//! the one who sleeps nor how he is woken.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

/// Rung by a task or a fiber, heard by the thread that made it.
pub(crate) struct Bell {
    start: Instant,
    /// When it was rung, in nanoseconds from the start; or one of the two below.
    rung: AtomicU64,
    waiter: Thread,
}

/// It is to be rung.
const ASKED: u64 = 0;
/// It will not be rung again.
const OVER: u64 = u64::MAX;

/// What the one who rings has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Ring.
    Ring,
    /// Sleep until he is woken.
    Sleep,
    /// End.
    End,
}

impl Bell {
    /// For the calling thread to hear. Never freed: whoever rings still uses it when it has been heard.
    pub(crate) fn leaked() -> &'static Self {
        // That it was rung before anybody asked is no harm.
        let (start, rung, waiter) = (Instant::now(), AtomicU64::new(1), thread::current());
        Box::leak(Box::new(Self { start, rung, waiter }))
    }

    /// It is to be rung; whoever does so is woken after this. Returns the time.
    pub(crate) fn ask(&self) -> u64 {
        self.rung.store(ASKED, Ordering::Relaxed);
        self.now()
    }

    /// Whoever rings it is to end, and is woken after this.
    pub(crate) fn end(&self) {
        self.rung.store(OVER, Ordering::Relaxed);
    }

    /// What is to be done.
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

    /// Rings whenever it is asked for, and sleeps in between by a function that may return for no reason.
    pub(crate) fn attend(&self, sleep: fn()) {
        loop {
            match self.wish() {
                Wish::Ring => self.ring(),
                Wish::Sleep => sleep(),
                Wish::End => return,
            }
        }
    }

    /// Sleeps until it has been rung. Returns when that was.
    pub(crate) fn wait_asleep(&self) -> u64 {
        self.wait(thread::park)
    }

    /// The same without sleeping.
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
    fn it_is_rung_once_for_each_time_that_it_is_asked_for() {
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
