//! Where tasks come in: a list that many push to and one takes whole, with who that one is, in one word. Knows neither fibers nor functions.
//!
//! The word has the newest task, which has the next older one, and so on; and two flags: *running*, if there is a consumer, and *stopped*.
//!
//! | from \ by | a task is pushed | it is stopped | the consumer takes all | the consumer has nothing left |
//! | --- | --- | --- | --- | --- |
//! | empty | running with a list, **starts** | running, stopped, **starts** | – | – |
//! | running | running with a list | running, stopped | the same | empty, it ends |
//! | running with a list | with a longer list | stopped, with the list | running, gives the list | (goes on) |
//! | running, stopped, maybe with a list | (given back) | the same | running, stopped, gives the list | (it is the end) |
//!
//! What holds:
//!
//! 1. **There is one consumer at a time.** Whoever sets *running* has the right to be the consumer, or to make one. It is given up by one change of
//!    the word, which fails if there is a list.
//! 2. **No task is forgotten.** One that is pushed while there is a consumer keeps that from ending; one that is pushed while there is none starts one.
//! 3. **Tasks come in order.** That of their changes of the word; so those of one who pushes keep theirs.
//!
//! A task is pushed by one change of the word, which is tried again if another one was faster. Whoever takes tasks waits for nobody: a task is in the list with its
//! link, so that one who is interrupted between two steps, which a list that is linked after the exchange would have, holds up no one. A word
//! that has gone back to an older value meanwhile does no harm: who pushes does not look into the list that it puts its task before.
//!
//! An urgent task is one of the list; a flag beside the word tells that there is one, for a consumer that is in the middle of others. It is set
//! after the task is there. So the consumer that takes it down sees the task; or it has seen it before, and looks once for nothing.
//!
//! # Safety
//!
//! Trusted with the tasks in the list, which belong to whoever takes it.
#![expect(unsafe_code, reason = "tasks are linked by pointers through an atomic word")]

use std::marker::PhantomData;

use super::lane::{LaneNode, Stack, Urgency};
use crate::rt::Padded;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};

/// There is a consumer.
const RUNNING: usize = 1;
/// Nothing more comes in.
const STOPPED: usize = 2;
const FLAGS: usize = RUNNING | STOPPED;

/// The word, with its meanings.
pub(super) struct Inbox<T> {
    /// # Invariant
    ///
    /// But for the flags, zero or the address of a node, from [`Box::into_raw`] and exposed, that the inbox owns; which has the next one's in turn.
    word: Padded<AtomicUsize>,
    /// Read at each task that is handed out, and so apart from what changes with each that comes.
    has_urgent: Padded<AtomicBool>,
    tasks: PhantomData<T>,
}

// SAFETY: tasks are moved through it, and nobody looks at one that is in it.
unsafe impl<T: Send> Sync for Inbox<T> {}

/// What the caller has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsumerAction {
    /// It has the right to be the consumer.
    Start,
    Nothing,
}

/// What a consumer that has nothing left has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLast {
    /// It is none any more.
    Nothing,
    /// More has come.
    Tasks,
    /// Nothing more will come. It keeps the right.
    TheEnd,
}

impl<T> Inbox<T> {
    pub(super) fn new() -> Self {
        const { assert!(align_of::<LaneNode<T>>() > FLAGS, "an address leaves room for the flags") };
        Self {
            word: Padded(AtomicUsize::new(0)),
            has_urgent: Padded(AtomicBool::new(false)),
            tasks: PhantomData,
        }
    }

    /// # Errors
    ///
    /// If it is stopped. The task comes back.
    pub(super) fn push(&self, task: T, urgency: Urgency) -> Result<ConsumerAction, T> {
        let mut node = Box::new(LaneNode::new(task, urgency));
        // Relaxed: what is seen here is used as a link, and no more.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & STOPPED != 0 {
                return Err(node.task);
            }
            node.older = word & !FLAGS;
            let address = Box::into_raw(node);
            let new = address.expose_provenance() | RUNNING;
            // Release: pairs with the acquire of `take`: the task is seen. Acquire: pairs with the release of `finish`, for whoever becomes
            // the consumer: it sees what the one before has left. Relaxed, if it fails: as above.
            match self.word.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
            // SAFETY: it is from above, and nobody has seen it.
            node = unsafe { Box::from_raw(address) };
        }
        if urgency == Urgency::Urgent {
            // Release: pairs with the acquire of `wants_look`: the task is in the list. An exchange, as there: the checker does not
            // keep a plain store from getting between the two halves of one.
            self.has_urgent.swap(true, Ordering::Release);
        }
        Ok(if word & RUNNING == 0 { ConsumerAction::Start } else { ConsumerAction::Nothing })
    }

    /// Nothing more comes in.
    pub(super) fn stop(&self) -> ConsumerAction {
        // As in `push`.
        let word = self.word.fetch_or(RUNNING | STOPPED, Ordering::AcqRel);
        if word & RUNNING == 0 { ConsumerAction::Start } else { ConsumerAction::Nothing }
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: it says nothing of anything else.
        self.word.load(Ordering::Relaxed) & STOPPED != 0
    }

    /// Whether there may be an urgent one. For the consumer.
    #[inline]
    pub(super) fn wants_look(&self) -> bool {
        // Acquire: pairs with the release of `push`. An exchange, so that no flag is taken down that was not seen: its task would wait.
        self.has_urgent.load(Ordering::Relaxed) && self.has_urgent.swap(false, Ordering::Acquire)
    }

    /// All tasks, the newest first. For the consumer.
    pub(super) fn take(&self) -> Taken<T> {
        // Acquire: pairs with the release of each `push`, since all of them change the word in one go.
        let word = self.word.fetch_and(FLAGS, Ordering::Acquire);
        Taken { newest: word & !FLAGS, tasks: PhantomData }
    }

    /// The consumer has nothing left.
    pub(super) fn finish(&self) -> AfterLast {
        // Release: pairs with the acquire of whoever becomes the next one. Relaxed, if it fails: `take` sees what came.
        match self.word.compare_exchange(RUNNING, 0, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => AfterLast::Nothing,
            Err(now) if now & !FLAGS != 0 => AfterLast::Tasks,
            Err(_) => AfterLast::TheEnd,
        }
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Tasks that were taken, the newest first.
pub(super) struct Taken<T> {
    /// # Invariant
    ///
    /// As that of the inbox's word, without the flags.
    newest: usize,
    tasks: PhantomData<T>,
}

impl<T> Iterator for Taken<T> {
    type Item = Box<LaneNode<T>>;

    fn next(&mut self) -> Option<Box<LaneNode<T>>> {
        if self.newest == 0 {
            return None;
        }
        // By address: who pushed may have seen another node there, of which this is no pointer.
        let node = std::ptr::with_exposed_provenance_mut::<LaneNode<T>>(self.newest);
        // SAFETY: the invariant of `newest`.
        let node = unsafe { Box::from_raw(node) };
        self.newest = node.older;
        Some(node)
    }
}

impl<T> Drop for Taken<T> {
    fn drop(&mut self) {
        // Dropped there, whatever their destructors do.
        let mut rest = Stack::new();
        self.for_each(|node| rest.push(node));
    }
}
