//! The inbox: a list of tasks to which many threads push and which one consumer takes as a whole.
//! One word contains the list, and whether there is a consumer. Knows neither fibers nor functions.
//!
//! The word contains the address of the newest task, which has a link to the next older one, and so
//! on. It also contains two flags: *running*, if there is a consumer, and *stopped*.
//!
//! | from \ by | a task is pushed | it is stopped | the consumer takes all | the consumer has nothing left |
//! | --- | --- | --- | --- | --- |
//! | empty | running with a list, **starts** | running, stopped, **starts** | – | – |
//! | running | running with a list | running, stopped | the same | empty, it ends |
//! | running with a list | with a longer list | stopped, with the list | running, gives the list | (continues) |
//! | running, stopped, maybe with a list | (returned) | the same | running, stopped, gives the list | (it is the end) |
//!
//! Invariants:
//!
//! 1. **There is one consumer at a time.** The thread that sets *running* has the right to be the
//!    consumer, or to start one. The right is given up by one change of the word, which fails if
//!    there is a list.
//! 2. **No task is forgotten.** A task that is pushed while there is a consumer prevents it from
//!    ending. A task that is pushed while there is none starts one.
//! 3. **Tasks arrive in order**, namely that of their changes of the word. So the tasks of one
//!    thread keep their order.
//!
//! A task is pushed by one change of the word, which is tried again if another thread was faster.
//! The consumer waits for no other thread: a task enters the list together with its link. In a list
//! that is linked after the exchange, a thread that is preempted between the two steps would block
//! the consumer. ABA does no harm: a thread that pushes does not read the list to which it adds its
//! task.
//!
//! An urgent task is in the same list. A flag beside the word tells a busy consumer that there is
//! one. It is set after the task was pushed. So the consumer that clears the flag sees the task, or
//! it has seen the task before, and looks once for nothing.
//!
//! # Safety
//!
//! Trusted with the tasks in the list, which belong to the consumer that takes it.
#![expect(unsafe_code, reason = "tasks are linked by pointers through an atomic word")]

use std::marker::PhantomData;

use super::lane::{LaneNode, Stack, Urgency};
use crate::rt::Padded;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};

/// There is a consumer.
const RUNNING: usize = 1;
/// No more tasks are accepted.
const STOPPED: usize = 2;
const FLAGS: usize = RUNNING | STOPPED;

/// The inbox.
pub(super) struct Inbox<T> {
    /// # Invariant
    ///
    /// Apart from the flags, zero or the address of a node, from [`Box::into_raw`] and exposed,
    /// which the inbox owns. The same holds for `older` of that node.
    word: Padded<AtomicUsize>,
    /// Read for each task that is handed out, and so on a cache line apart from the word, which
    /// changes with each push.
    has_urgent: Padded<AtomicBool>,
    tasks: PhantomData<T>,
}

// SAFETY: tasks are moved through it, and no thread accesses a task in it.
unsafe impl<T: Send> Sync for Inbox<T> {}

/// What the caller has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsumerAction {
    /// The caller has the right to be the consumer.
    Start,
    Nothing,
}

/// What a consumer without tasks has to do next.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLast {
    /// It is not the consumer any more.
    Nothing,
    /// More tasks have arrived.
    Tasks,
    /// No more tasks will arrive. It stays the consumer.
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

    /// Pushes a task.
    ///
    /// # Errors
    ///
    /// Returns the task if the inbox is stopped.
    pub(super) fn push(&self, task: T, urgency: Urgency) -> Result<ConsumerAction, T> {
        let mut node = Box::new(LaneNode::new(task, urgency));
        // Relaxed: the value is used as a link only.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & STOPPED != 0 {
                return Err(node.task);
            }
            node.older = word & !FLAGS;
            let address = Box::into_raw(node);
            let new = address.expose_provenance() | RUNNING;
            // Release: pairs with the acquire of `take`, so that the task is visible. Acquire:
            // pairs with the release of `finish`, so that a new consumer sees what the previous one
            // has left. Relaxed on failure: as above.
            match self.word.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
            // SAFETY: it is from `into_raw` above, and no other thread has seen it.
            node = unsafe { Box::from_raw(address) };
        }
        if urgency == Urgency::Urgent {
            // Release: pairs with the acquire of `wants_look`: the task is in the list. An
            // exchange, as there: under the model checker a plain store could come between the two
            // halves of an exchange.
            self.has_urgent.swap(true, Ordering::Release);
        }
        Ok(if word & RUNNING == 0 { ConsumerAction::Start } else { ConsumerAction::Nothing })
    }

    /// Stops the inbox: it accepts no more tasks.
    pub(super) fn stop(&self) -> ConsumerAction {
        // As in `push`.
        let word = self.word.fetch_or(RUNNING | STOPPED, Ordering::AcqRel);
        if word & RUNNING == 0 { ConsumerAction::Start } else { ConsumerAction::Nothing }
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: no other data is read because of this value.
        self.word.load(Ordering::Relaxed) & STOPPED != 0
    }

    /// Returns whether there may be an urgent task. Called by the consumer.
    #[inline]
    pub(super) fn wants_look(&self) -> bool {
        // Acquire: pairs with the release of `push`. An exchange, so that no flag is cleared
        // without being seen: its task would wait.
        self.has_urgent.load(Ordering::Relaxed) && self.has_urgent.swap(false, Ordering::Acquire)
    }

    /// Takes all tasks, the newest first. Called by the consumer.
    pub(super) fn take(&self) -> Taken<T> {
        // Acquire: pairs with the release of each `push`, since all pushes are read-modify-writes
        // of the word.
        let word = self.word.fetch_and(FLAGS, Ordering::Acquire);
        Taken { newest: word & !FLAGS, tasks: PhantomData }
    }

    /// Gives up the right to be the consumer, unless there are tasks or the inbox is stopped.
    pub(super) fn finish(&self) -> AfterLast {
        // Release: pairs with the acquire of the next consumer in `push` or `stop`. Relaxed on
        // failure: `take` acquires the tasks.
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
    /// As that of `Inbox::word`, without the flags.
    newest: usize,
    tasks: PhantomData<T>,
}

impl<T> Iterator for Taken<T> {
    type Item = Box<LaneNode<T>>;

    fn next(&mut self) -> Option<Box<LaneNode<T>>> {
        if self.newest == 0 {
            return None;
        }
        // From the address: a pushing thread may have seen an older node at the same address, whose
        // pointer is not valid for this one.
        let node = std::ptr::with_exposed_provenance_mut::<LaneNode<T>>(self.newest);
        // SAFETY: the invariant of `newest`.
        let node = unsafe { Box::from_raw(node) };
        self.newest = node.older;
        Some(node)
    }
}

impl<T> Drop for Taken<T> {
    fn drop(&mut self) {
        // `Stack` drops all tasks, even if some destructors panic.
        let mut rest = Stack::new();
        self.for_each(|node| rest.push(node));
    }
}
