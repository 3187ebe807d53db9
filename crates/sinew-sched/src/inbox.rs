//! Where a core's tasks arrive from other threads, and what it sleeps on: one word for both. Knows no driver; whoever is
//! told to wake the owner does.
//!
//! The word is empty, or *told* (awake, and to look around before it sleeps), or *asleep*, or a list of tasks, newest first, or
//! *closed* (nobody is there to take anything).
//!
//! | from \ by | a task is pushed | the owner is told | the owner takes all | the owner lies down | it is closed |
//! | --- | --- | --- | --- | --- | --- |
//! | empty | list | told | empty | asleep | closed |
//! | told | list | told | empty | (stays up) | closed |
//! | asleep | list, **wakes** | told, **wakes** | empty | – | closed, **wakes** |
//! | list | longer list | list | empty, gives the list | (stays up) | closed, gives the list |
//! | closed | (given back) | closed | closed | (stays up) | closed |
//!
//! Whoever replaces *asleep* has to wake the owner, and nobody else does: each sleep ends with at most one wake. A list is
//! as good as having been told, since the owner cannot lie down on it. Every transition is one atomic operation on one word,
//! so there is no race to lose; release and acquire carry the tasks, and whatever made somebody tell the owner.
//!
//! # Safety
//!
//! Trusted with the tasks in the list, which belong to whoever takes the list.
#![expect(unsafe_code, reason = "tasks are linked by pointers through an atomic word")]

use core::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering};
use crate::task::{Header, List, TaskRef};

/// The word, with its meanings.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// # Invariant
    ///
    /// Null, `told`, `asleep`, `closed`, or the first of a list of tasks that the inbox owns, linked up to null.
    word: AtomicPtr<Header>,
}

/// What the caller has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The owner sleeps, or is about to: call its driver.
    Wake,
    /// The owner will see by itself.
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

    /// Adds a task; or gives it back, if the inbox is closed.
    pub(crate) fn push(&self, mut task: TaskRef) -> Result<Next, TaskRef> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word == closed() {
                return Err(task);
            }
            task.set_next(if is_task(word) { word } else { ptr::null_mut() });
            let header = task.into_raw().as_ptr();
            // Release: the owner sees the task, and its link. Relaxed, when it fails: nothing is used of it but as a link.
            match self.word.compare_exchange_weak(word, header, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                // SAFETY: it is not in the list, so it is still ours.
                Err(now) => (word, task) = (now, unsafe { own(header) }),
            }
        }
        Ok(wake_from(word))
    }

    /// Has the owner look around before it sleeps next.
    pub(crate) fn tell(&self) -> Next {
        let change = |word| (!is_task(word) && word != closed()).then_some(told());
        // Release: pairs with the acquire of `take`, so that the owner sees what it is told about.
        let told = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, change);
        told.map_or(Next::Nothing, wake_from)
    }

    /// Whether `take` would find something. For the owner.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.word.load(Ordering::Relaxed).is_null()
    }

    /// Takes everything, oldest first, and is awake. For the owner, after sleeping and whenever it likes.
    pub(crate) fn take(&self) -> List {
        let change = |word| (word != closed()).then_some(ptr::null_mut());
        // Acquire: pairs with the release of `push` and `tell`.
        match self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change) {
            // SAFETY: the invariant of `word`, and what it was is ours now.
            Ok(word) => unsafe { unlink(word) },
            Err(_) => List::new(),
        }
    }

    /// Takes everything, and takes nothing more from now on. For anyone: an owner that is about to leave, or whoever ends it
    /// all.
    pub(crate) fn close(&self) -> (List, Next) {
        // Acquire: as in `take`. Release: an owner that sees it closed sees why.
        let word = self.word.swap(closed(), Ordering::AcqRel);
        // SAFETY: the invariant of `word`, and what it was is ours now.
        let list = unsafe { unlink(word) };
        (list, wake_from(word))
    }

    /// Takes tasks again. For a new owner.
    pub(crate) fn open(&self) {
        let change = |word| (word == closed()).then_some(ptr::null_mut());
        // Nothing is handed over; an inbox that is open stays as it is.
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Whether tasks are in it. For anyone.
    pub(crate) fn has_tasks(&self) -> bool {
        is_task(self.word.load(Ordering::Relaxed))
    }

    /// Goes to sleep, unless there is something in the box. For the owner, who calls its driver if this says so, and
    /// `take` afterwards.
    #[must_use]
    pub(crate) fn lie_down(&self) -> bool {
        // Release: what the owner has done is seen by whoever replaces the word. Relaxed on failure: `take` acquires.
        let (empty, asleep) = (ptr::null_mut(), asleep());
        self.word.compare_exchange(empty, asleep, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

/// What to do for the owner of a word that was just replaced.
fn wake_from(word: *mut Header) -> Next {
    if word == asleep() { Next::Wake } else { Next::Nothing }
}

/// The tasks of a word, oldest first.
///
/// # Safety
///
/// The word is what an inbox had, and the caller took it out.
unsafe fn unlink(mut word: *mut Header) -> List {
    let list = List::new();
    while is_task(word) {
        // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    unsafe { TaskRef::from_raw(header) }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        drop(self.take());
    }
}
