//! The fibers of a scope: how many have not ended, the waiter for that, and the node through which
//! they are cancelled.
//!
//! # Safety
//!
//! Trusted with waking the waiter, which does not continue before.
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

/// The state of a scope.
#[derive(Debug)]
pub(crate) struct ScopeData {
    running: AtomicUsize,
    has_panicked: AtomicBool,
    /// The deadline that was in force where the scope was opened.
    deadline: Option<Deadline>,
    /// Whether fibers spawned from now on do not inherit the deadline.
    ignores_deadline: AtomicBool,
    waiter: Lock<Option<Waiter>>,
    at: &'static Location<'static>,
    failure: ScopeFailure,
    /// The fiber that opened the scope: cancelling it cancels the fibers of the scope. `None` once
    /// the scope has ended: otherwise fibers that ended long ago would keep one another alive.
    opener: Lock<Option<FiberRef>>,
    /// The node that was in force where the scope was opened.
    outer: Option<Arc<Node>>,
    /// Made when it is first needed.
    node: OnceLock<Arc<Node>>,
}

/// What a panic of one fiber does to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeFailure {
    /// Nothing.
    IsItsOwn,
    /// It cancels them.
    CancelsOthers,
}

impl ScopeData {
    /// Opens a scope of the caller.
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

    /// Returns the node through which its fibers are cancelled.
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

    /// Returns the fiber that opened the scope, while the scope is open.
    pub(crate) fn opener(&self) -> Option<FiberRef> {
        self.opener.lock().clone()
    }

    /// Cancels its fibers, including those that are not spawned yet.
    pub(crate) fn cancel(&self, by: &'static Location<'static>, reason: Option<Cow<'static, str>>) {
        self.node().cancel(&Arc::new(Why { what: What::Scope, by, reason }));
    }

    /// Cancels the fibers that have not ended, when no more will be spawned.
    pub(crate) fn cancel_rest(&self, reason: &'static str) {
        if self.running.load(Ordering::Relaxed) != 0 {
            self.cancel(self.at, Some(reason.into()));
        }
    }

    /// Records that one of its fibers has panicked, and is about to end.
    #[cold]
    pub(crate) fn fail(&self) {
        if self.failure == ScopeFailure::CancelsOthers {
            self.cancel(self.at, Some("a fiber of the scope panicked".into()));
        }
    }

    /// Lets fibers that are spawned from now on have no deadline.
    pub(crate) fn ignore_deadline(&self) {
        // Relaxed: the flag publishes no other memory.
        self.ignores_deadline.store(true, Ordering::Relaxed);
    }

    /// Returns the deadline of a fiber that is spawned now.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline.filter(|_| !self.ignores_deadline.load(Ordering::Relaxed))
    }

    /// Counts a new fiber.
    pub(crate) fn join_in(&self) {
        // As in std's scopes, no program counts that far.
        assert!(self.running.fetch_add(1, Ordering::Relaxed) < usize::MAX / 2, "too many fibers in a scope");
    }

    /// Counts a fiber that has ended, and wakes the waiter if it was the last.
    pub(crate) fn leave(&self) {
        // Release: pairs with the acquire of `wait`. The waiter sees what the fiber did.
        if self.running.fetch_sub(1, Ordering::Release) == 1
            && let Some(waiter) = self.waiter.lock().take()
        {
            // SAFETY: the waiting fiber or thread continues only when it is woken, and only through
            // the waiter that was just taken.
            unsafe { waiter.wake(Cause::Event) };
        }
    }

    /// Waits until no fiber is left. Does not unwind before, since the fibers borrow from the
    /// caller's stack.
    pub(crate) fn wait(&self) {
        let abort = AbortOnUnwind;
        self.wait_or_unwind();
        std::mem::forget(abort);
    }

    /// Drops the reference to the fiber that opened the scope, when the scope has ended. If no
    /// other reference to this exists, that reference is dropped with it, and no lock is needed.
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
            // `Later`, since whether to wait was decided when the scope was opened.
            suspend::wait(Phase::Later, WaitKind::Scope.on(self), Ends::ByEvent, None, |waiter| {
                let mut slot = self.waiter.lock();
                let is_needed = self.running.load(Ordering::Acquire) != 0;
                *slot = is_needed.then_some(waiter);
                is_needed
            });
        }
    }

    /// Records a panic of a fiber that was not joined.
    pub(crate) fn note_panic(&self) {
        self.has_panicked.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }
}
