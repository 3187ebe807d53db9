//! How many fibers of a scope have not ended, and who waits for that; and what they are cancelled through.
//!
//! # Safety
//!
//! Trusted with waking whoever waits: it does not go on before.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::borrow::Cow;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::rt::base::AbortOnUnwind;
use crate::rt::base::sync::Lock;
use crate::rt::wait::{
    Above, Cause, Deadline, Ends, FiberRef, Node, Phase, WaitKind, Waiter, What, Why, stop, suspend,
};

/// The fibers of a scope.
#[derive(Debug)]
pub(crate) struct ScopeData {
    running: AtomicUsize,
    has_panicked: AtomicBool,
    /// The deadline that was in force where the scope was opened.
    deadline: Option<Deadline>,
    /// Fibers made from now on do not inherit the deadline.
    ignores_deadline: AtomicBool,
    waiter: Lock<Option<Waiter>>,
    at: &'static Location<'static>,
    failure: ScopeFailure,
    /// The fiber that cancels those of the scope when it is cancelled. None once the scope has ended: fibers that are long gone would
    /// keep one another.
    opener: Lock<Option<FiberRef>>,
    /// What was in force where the scope was opened.
    outer: Option<Arc<Node>>,
    /// Made when somebody first needs it.
    node: OnceLock<Arc<Node>>,
}

/// What a panic of one fiber means for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeFailure {
    /// Nothing.
    IsItsOwn,
    /// They are cancelled.
    CancelsOthers,
}

impl ScopeData {
    /// One that the caller opens.
    pub(crate) fn open(at: &'static Location<'static>, failure: ScopeFailure) -> Arc<Self> {
        let Above { opener, node, deadline } = stop::above_scope();
        Arc::new(Self {
            running: AtomicUsize::new(0),
            has_panicked: AtomicBool::new(false),
            deadline,
            ignores_deadline: AtomicBool::new(false),
            waiter: Lock::new(None),
            at,
            failure,
            opener: Lock::new(opener),
            outer: node,
            node: OnceLock::new(),
        })
    }

    /// What its fibers are cancelled through.
    pub(crate) fn node(&self) -> Arc<Node> {
        if let Some(node) = self.node.get() {
            return node.clone();
        }
        let own = self.opener().and_then(|opener| opener.own_node());
        let node = Node::below([own, self.outer.clone()].into_iter().flatten());
        self.node.get_or_init(|| node).clone()
    }

    pub(crate) fn has_node(&self) -> bool {
        self.node.get().is_some()
    }

    /// The fiber that opened it, while it is open.
    pub(crate) fn opener(&self) -> Option<FiberRef> {
        self.opener.lock().clone()
    }

    /// Cancels its fibers, those that are yet to come included.
    pub(crate) fn cancel(&self, by: &'static Location<'static>, reason: Option<Cow<'static, str>>) {
        self.node().cancel(&Arc::new(Why { what: What::Scope, by, reason }));
    }

    /// Nothing new will come: cancels those that have not ended.
    pub(crate) fn cancel_rest(&self, reason: &'static str) {
        if self.running.load(Ordering::Relaxed) != 0 {
            self.cancel(self.at, Some(reason.into()));
        }
    }

    /// A fiber of it has panicked, and is about to end.
    #[cold]
    pub(crate) fn fail(&self) {
        if self.failure == ScopeFailure::CancelsOthers {
            self.cancel(self.at, Some("a fiber of the scope panicked".into()));
        }
    }

    /// Lets fibers that are made from now on have no deadline.
    pub(crate) fn ignore_deadline(&self) {
        // Relaxed: it says nothing about anything else in memory.
        self.ignores_deadline.store(true, Ordering::Relaxed);
    }

    /// The deadline of a fiber that is made now.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline.filter(|_| !self.ignores_deadline.load(Ordering::Relaxed))
    }

    /// One more.
    pub(crate) fn join_in(&self) {
        // As for std's: nobody has that many.
        assert!(self.running.fetch_add(1, Ordering::Relaxed) < usize::MAX / 2, "too many fibers in a scope");
    }

    /// One less.
    pub(crate) fn leave(&self) {
        // Release: what the fiber did is seen by whoever waits.
        if self.running.fetch_sub(1, Ordering::Release) == 1
            && let Some(waiter) = self.waiter.lock().take()
        {
            // SAFETY: whoever waits goes on only when it is woken, and only through the waiter that was just taken.
            unsafe { waiter.wake(Cause::Event) };
        }
    }

    /// Waits until none is left. It does not unwind before: what the fibers borrow would be gone.
    pub(crate) fn wait(&self) {
        let abort = AbortOnUnwind;
        self.wait_or_unwind();
        std::mem::forget(abort);
    }

    /// It has ended: lets go of the fiber that opened it. If nobody else has this, that goes with it, and no lock is needed.
    #[inline]
    pub(crate) fn close(self: &Arc<Self>) {
        if Arc::strong_count(self) > 1 {
            self.forget_opener();
        }
    }

    #[cold]
    fn forget_opener(&self) {
        let opener = self.opener.lock().take();
        drop(opener);
    }

    fn wait_or_unwind(&self) {
        // Acquire: pairs with the release of `leave`.
        while self.running.load(Ordering::Acquire) != 0 {
            // Decided when the scope was opened.
            suspend::wait(Phase::Later, WaitKind::Scope.on(self), Ends::ByEvent, None, |waiter| {
                let mut slot = self.waiter.lock();
                let is_needed = self.running.load(Ordering::Acquire) != 0;
                *slot = is_needed.then_some(waiter);
                is_needed
            });
        }
    }

    /// A fiber panicked, and nobody has joined it.
    pub(crate) fn note_panic(&self) {
        self.has_panicked.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }
}
