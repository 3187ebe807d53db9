//! The part of a core that other threads reach: its inbox, and the driver it sleeps in. Knows no
//! worker.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::driver::{Driver, FutexDriver};
use crate::inbox::{Inbox, Next};
use crate::stats::Count;
use crate::task::{List, TaskRef};
use crate::unwind::{self, Ended};

/// How long a core sleeps at most when its driver fails, before it tries the driver again.
const WITHOUT_DRIVER: Duration = Duration::from_millis(5);

/// An inbox with a driver.
pub(crate) struct Mailbox {
    inbox: Inbox,
    driver: Box<dyn Driver>,
    /// Whether a thread is polling the driver, or the owner sleeps in it.
    in_use: AtomicBool,
    /// When a thread last polled the driver, by the caller's clock.
    looked: AtomicU64,
    /// Where the owner sleeps when the driver fails.
    fallback: FutexDriver,
    /// Calls of the driver that failed or panicked.
    errors: AtomicU64,
}

impl Mailbox {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self {
            inbox: Inbox::new(),
            driver,
            in_use: AtomicBool::new(false),
            looked: AtomicU64::new(0),
            fallback: FutexDriver::default(),
            errors: AtomicU64::new(0),
        }
    }

    /// Sends the owner a task. Returns whether that took a wake; or the task, if the inbox is
    /// closed.
    pub(crate) fn post(&self, task: TaskRef) -> Result<bool, TaskRef> {
        self.inbox.push(task).map(|next| self.deliver(next))
    }

    /// Makes the owner look around. Returns whether that took a wake.
    pub(crate) fn tell(&self) -> bool {
        self.deliver(self.inbox.tell())
    }

    fn deliver(&self, next: Next) -> bool {
        match next {
            Next::Wake => self.unpark(),
            Next::Nothing => return false,
        }
        true
    }

    #[cold]
    fn unpark(&self) {
        if unwind::catch(|| self.driver.unpark()) == Ended::Panicked {
            self.count_error();
        }
        // The owner sleeps in the fallback only after an error, and only for a moment, so this wake
        // may be lost.
        if self.errors() != 0 {
            self.fallback.unpark();
        }
    }

    /// Takes the tasks that have arrived. For the owner.
    pub(crate) fn take(&self) -> List {
        self.inbox.take()
    }

    /// Takes the tasks that have arrived, and closes the inbox; the owner stays awake. Any thread
    /// may call it.
    pub(crate) fn close(&self) -> List {
        let (list, next) = self.inbox.close();
        self.deliver(next);
        list
    }

    /// Opens the inbox again. For a new owner.
    pub(crate) fn open(&self) {
        self.inbox.open();
    }

    /// Returns whether tasks have arrived. Any thread may call it.
    pub(crate) fn has_tasks(&self) -> bool {
        self.inbox.has_tasks()
    }

    /// Returns whether nothing has arrived. For the owner.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inbox.is_empty()
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    /// Returns whether the driver watches for any event.
    pub(crate) fn is_watching(&self) -> bool {
        self.ask(|driver| driver.is_watching())
    }

    /// Returns whether the driver watches for events that concern others.
    pub(crate) fn is_watching_for_others(&self) -> bool {
        self.ask(|driver| driver.is_watching_for_others())
    }

    /// Asks the driver a question. The answer is false if it panics.
    fn ask(&self, question: impl FnOnce(&dyn Driver) -> bool) -> bool {
        let mut answer = false;
        if unwind::catch(|| answer = question(&*self.driver)) == Ended::Panicked {
            self.count_error();
        }
        answer
    }

    /// Returns when a thread last polled the driver, by the clock of [`look`](Self::look).
    pub(crate) fn looked(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Polls the driver, unless another thread is inside it. Returns whether there was an event.
    pub(crate) fn look(&self, now: u64) -> bool {
        self.looked.store(now, Ordering::Relaxed);
        self.look_untold()
    }

    /// The same, without storing the time.
    pub(crate) fn look_untold(&self) -> bool {
        if self.in_use.swap(true, Ordering::Acquire) {
            return false;
        }
        let looked = call(|| self.driver.look());
        self.in_use.store(false, Ordering::Release);
        match looked {
            Some(events) => events != 0,
            None => {
                self.count_error();
                false
            }
        }
    }

    /// Sleeps until a task arrives, an event happens, or the time is over. Returns at once if the
    /// inbox has something. For the owner. Counts the sleep in `sleeps`.
    pub(crate) fn sleep(&self, at_most: Option<Duration>, sleeps: &Count) {
        if !self.inbox.lie_down() {
            return;
        }
        sleeps.add(1);
        // A sibling that polls the driver is soon done: `look` does not wait.
        while self.in_use.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        let slept = call(|| self.driver.sleep(at_most));
        self.in_use.store(false, Ordering::Release);
        if slept.is_none() {
            self.sleep_without_driver(at_most);
        }
    }

    /// Sleeps for a short time only: no other end of this sleep is certain.
    #[cold]
    fn sleep_without_driver(&self, at_most: Option<Duration>) {
        self.count_error();
        let time = at_most.unwrap_or(WITHOUT_DRIVER).min(WITHOUT_DRIVER);
        if self.fallback.sleep(Some(time)).is_err() {
            std::thread::sleep(time);
        }
    }

    fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many calls of the driver failed or panicked.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }
}

/// Returns the result of a call to a driver; `None`, if it fails or panics. A panic ends here: the
/// caller may be another thread that only wakes the owner.
fn call<T>(driver: impl FnOnce() -> io::Result<T>) -> Option<T> {
    let mut outcome = None;
    unwind::catch(|| outcome = driver().ok());
    outcome
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox").field("inbox", &self.inbox).finish_non_exhaustive()
    }
}
