//! The part of a core that other threads reach: its inbox, and the driver it sleeps in. Knows no worker.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::driver::{Driver, FutexDriver};
use crate::inbox::{Inbox, Next};
use crate::stats::Count;
use crate::task::{List, TaskRef};
use crate::unwind::{self, Ended};

/// How long a core sleeps when its driver does not let it: the time until it tries the driver again.
const WITHOUT_DRIVER: Duration = Duration::from_millis(5);

/// An inbox with a driver.
pub(crate) struct Mailbox {
    inbox: Inbox,
    driver: Box<dyn Driver>,
    /// Somebody looks, or the owner sleeps.
    in_use: AtomicBool,
    /// When somebody last looked, by the caller's clock.
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

    /// Sends the owner a task. Returns whether that took a wake; or the task, if nobody is there to take it.
    pub(crate) fn post(&self, task: TaskRef) -> Result<bool, TaskRef> {
        self.inbox.push(task).map(|next| self.deliver(next))
    }

    /// Has the owner look around. Returns whether that took a wake.
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
        // It sleeps there at most for a moment, and only after an error: no need for a wake that is never lost.
        if self.errors() != 0 {
            self.fallback.unpark();
        }
    }

    /// Takes what has arrived. For the owner.
    pub(crate) fn take(&self) -> List {
        self.inbox.take()
    }

    /// Takes what has arrived, and lets nothing in from now on; the owner stays up. For anyone.
    pub(crate) fn close(&self) -> List {
        let (list, next) = self.inbox.close();
        self.deliver(next);
        list
    }

    /// Lets tasks in again. For a new owner.
    pub(crate) fn open(&self) {
        self.inbox.open();
    }

    /// Whether tasks have arrived. For anyone.
    pub(crate) fn has_tasks(&self) -> bool {
        self.inbox.has_tasks()
    }

    /// Whether nothing has arrived. For the owner.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inbox.is_empty()
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    /// Whether the driver has something to look for.
    pub(crate) fn is_watching(&self) -> bool {
        self.ask(|driver| driver.is_watching())
    }

    /// Whether the driver has something to look for that concerns others.
    pub(crate) fn is_watching_for_others(&self) -> bool {
        self.ask(|driver| driver.is_watching_for_others())
    }

    /// Asks the driver a question; no, if it panics.
    fn ask(&self, question: impl FnOnce(&dyn Driver) -> bool) -> bool {
        let mut answer = false;
        if unwind::catch(|| answer = question(&*self.driver)) == Ended::Panicked {
            self.count_error();
        }
        answer
    }

    /// When somebody last looked, by the clock of [`look`](Self::look).
    pub(crate) fn looked(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Looks into the driver, unless somebody else does. Whether there was something.
    pub(crate) fn look(&self, now: u64) -> bool {
        self.looked.store(now, Ordering::Relaxed);
        self.look_untold()
    }

    /// The same, where nobody wants to know when.
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

    /// Sleeps until something arrives or happens, or the time is over; not at all, if something is there. For the owner.
    /// `sleeps` is counted up when it does.
    pub(crate) fn sleep(&self, at_most: Option<Duration>, sleeps: &Count) {
        if !self.inbox.lie_down() {
            return;
        }
        sleeps.add(1);
        // A sibling that looks is soon done: looking does not wait.
        while self.in_use.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        let slept = call(|| self.driver.sleep(at_most));
        self.in_use.store(false, Ordering::Release);
        if slept.is_none() {
            self.sleep_without_driver(at_most);
        }
    }

    /// Nothing ends this sleep for certain but time, so it is a short one.
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

    /// How many calls of the driver failed or panicked.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }
}

/// What a call of a driver comes to; nothing, if it fails. A panic counts as failing: nobody is to pay for it who only wanted
/// to wake somebody.
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
