//! The inbox of a core: where tasks from other threads arrive, and what the core sleeps on, in one
//! word. Knows no driver: the callers wake the owner when a method returns [`Next::Wake`].
//!
//! The word is empty, or *told* (the owner is awake, and looks around before it sleeps), or
//! *asleep*, or a list of tasks, newest first, or *closed* (no owner takes tasks).
//!
//! | from \ by | a task is pushed | the owner is told | the owner takes all | the owner lies down | it is closed |
//! | --- | --- | --- | --- | --- | --- |
//! | empty | list | told | empty | asleep | closed |
//! | told | list | told | empty | (stays up) | closed |
//! | asleep | list, **wakes** | told, **wakes** | empty | – | closed, **wakes** |
//! | list | longer list | list | empty, gives the list | (stays up) | closed, gives the list |
//! | closed | (given back) | closed | closed | (stays up) | closed |
//!
//! The thread that replaces *asleep*, and no other, has to wake the owner: each sleep ends with at
//! most one wake. A list has the effect of *told* too, since the owner cannot lie down on it. Every
//! transition is one atomic operation on one word, so there is no window for a race. Release and
//! acquire pass on the tasks, and the writes that the owner was told about.
//!
//! # Safety
//!
//! Trusted with the tasks in the list, which belong to the thread that takes the list.
#![expect(unsafe_code, reason = "tasks are linked by pointers through an atomic word")]

use core::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering};
use crate::task::{Header, List, TaskRef};

/// The word, with its states.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// # Invariant
    ///
    /// Null, `told`, `asleep`, `closed`, or the first of a list of tasks that the inbox owns,
    /// linked up to null.
    word: AtomicPtr<Header>,
}

/// What the caller has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The owner sleeps, or is about to: call its driver.
    Wake,
    /// The owner is awake or already being woken, and will see the change.
    Nothing,
}

/// No header has these addresses: headers are aligned to words, and these are not.
const fn told() -> *mut Header {
    ptr::without_provenance_mut(1)
}

const fn asleep() -> *mut Header {
    ptr::without_provenance_mut(2)
}

const fn closed() -> *mut Header {
    ptr::without_provenance_mut(3)
}

fn is_task(word: *mut Header) -> bool {
    word.addr() > closed().addr()
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { word: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Adds a task; returns it, if the inbox is closed.
    pub(crate) fn push(&self, mut task: TaskRef) -> Result<Next, TaskRef> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word == closed() {
                return Err(task);
            }
            task.set_next(if is_task(word) { word } else { ptr::null_mut() });
            let header = task.into_raw().as_ptr();
            // Release: the owner sees the task and its link. Relaxed on failure: the word is only
            // used as a link.
            match self.word.compare_exchange_weak(word, header, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                // SAFETY: the header is not in the list, so it still belongs to this call.
                Err(now) => (word, task) = (now, unsafe { own(header) }),
            }
        }
        Ok(wake_from(word))
    }

    /// Makes the owner look around before it sleeps next.
    pub(crate) fn tell(&self) -> Next {
        let change = |word| (!is_task(word) && word != closed()).then_some(told());
        // Release: pairs with the acquire of `take`, so that the owner sees the writes that it is
        // told about.
        let told = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, change);
        told.map_or(Next::Nothing, wake_from)
    }

    /// Returns whether `take` would find nothing. For the owner.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.word.load(Ordering::Relaxed).is_null()
    }

    /// Takes all tasks, oldest first, and marks the owner awake. For the owner, after sleeping and
    /// at any other time.
    pub(crate) fn take(&self) -> List {
        let change = |word| (word != closed()).then_some(ptr::null_mut());
        // Acquire: pairs with the release of `push` and `tell`.
        match self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change) {
            // SAFETY: the invariant of `word`; the swap has made its list this call's own.
            Ok(word) => unsafe { unlink(word) },
            Err(_) => List::new(),
        }
    }

    /// Takes all tasks, and closes the inbox. Any thread may call it: an owner that is about to
    /// leave, or the thread that ends the pool.
    pub(crate) fn close(&self) -> (List, Next) {
        // Acquire: as in `take`. Release: an owner that sees it closed sees the writes before.
        let word = self.word.swap(closed(), Ordering::AcqRel);
        // SAFETY: the invariant of `word`; the swap has made its list this call's own.
        let list = unsafe { unlink(word) };
        (list, wake_from(word))
    }

    /// Opens the inbox again. For a new owner.
    pub(crate) fn open(&self) {
        let change = |word| (word == closed()).then_some(ptr::null_mut());
        // Relaxed: no data is handed over. An inbox that is open stays as it is.
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Returns whether it contains tasks. Any thread may call it.
    pub(crate) fn has_tasks(&self) -> bool {
        is_task(self.word.load(Ordering::Relaxed))
    }

    /// Marks the owner asleep, unless the inbox has something for it. For the owner: if this
    /// returns true, it sleeps in its driver, and calls `take` afterwards.
    #[must_use]
    pub(crate) fn lie_down(&self) -> bool {
        // Release: the thread that replaces the word sees what the owner did before. Relaxed on
        // failure: `take` acquires.
        let (empty, asleep) = (ptr::null_mut(), asleep());
        self.word.compare_exchange(empty, asleep, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

/// Returns what to do for the owner after this word was replaced.
fn wake_from(word: *mut Header) -> Next {
    if word == asleep() { Next::Wake } else { Next::Nothing }
}

/// Returns the tasks of a word, oldest first.
///
/// # Safety
///
/// The word was an inbox's, and the caller has taken it out.
unsafe fn unlink(mut word: *mut Header) -> List {
    let list = List::new();
    while is_task(word) {
        // SAFETY: the caller has taken the list out of the inbox, so it owns each task in it.
        let task = unsafe { own(word) };
        word = task.next();
        list.push_front(task);
    }
    list
}

/// # Safety
///
/// The caller owns the task.
unsafe fn own(header: *mut Header) -> TaskRef {
    let header = NonNull::new(header).expect("a task is not null");
    // SAFETY: the caller owns the task.
    unsafe { TaskRef::from_raw(header) }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        drop(self.take());
    }
}
