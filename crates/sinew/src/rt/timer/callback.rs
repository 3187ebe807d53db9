//! A timer with a callback: made once, armed any number of times. Knows neither fibers nor what the
//! callback does.
//!
//! All of its state is under the lock of one driver's timers, its home, which also contains its
//! entry while it is armed. Arming takes one lock, and so does cancelling.
//!
//! | from \ by | arm | its moment | its fiber begins | the callback has ended | cancel |
//! | --- | --- | --- | --- | --- | --- |
//! | idle | armed | – | nothing: it is late | – | – |
//! | armed | armed anew | due | as above | – | idle, and one call **prevented** |
//! | due | armed anew | – | running | – | the same |
//! | running | running, then anew | – | as above | armed again, or idle | running, then idle |
//!
//! So callbacks of one timer never overlap. Each time that it is due has a number, by which a late
//! fiber recognises that it is late.
//!
//! # Safety
//!
//! Trusted with two cells: the state, under the lock of the timer's home, and the body, which is
//! touched only by a fiber that has found the timer due.
#![expect(unsafe_code, reason = "cells under a lock that lies elsewhere")]

use std::cell::UnsafeCell;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use super::callback_spec::CallbackSpec;
use super::callback_state::{CallbackPhase, CallbackState, Then};
use super::core_timers::CoreTimers;
use super::ticks::Ticks;
use super::timers_guard::TimersGuard;
use crate::rt::base::{clock, impl_debug, impl_unwind_safe, unwind};
use crate::rt::wait::{Cause, Ends, WaitKind, suspend};

/// A reference to a timer with a callback.
#[derive(Clone)]
pub(crate) struct Callback(Arc<CallbackInner<CallbackBody>>);

/// The callback.
type CallbackBody = dyn FnMut(&Callback) + Send;

/// A reference that does not keep the callback alive.
#[derive(Clone)]
pub(crate) struct WeakCallback(Weak<CallbackInner<CallbackBody>>);

struct CallbackInner<F: ?Sized> {
    home: Arc<CoreTimers>,
    how: CallbackSpec,
    /// Whether no call is to come, to be read without the lock. Changed under it.
    is_idle: AtomicBool,
    /// # Invariant
    ///
    /// Touched only under the lock of `home`.
    state: UnsafeCell<CallbackState>,
    /// # Invariant
    ///
    /// Touched only by the fiber that has set the state to running, until it sets another state.
    body: UnsafeCell<F>,
}

// SAFETY: the invariants of the cells pass them from one thread to the next, and the body is
// `Send`.
unsafe impl<F: Send + ?Sized> Send for CallbackInner<F> {}
// SAFETY: as above.
unsafe impl<F: Send + ?Sized> Sync for CallbackInner<F> {}

// A panic leaves nothing half-changed that is visible through these: the state is under a lock, and
// the code that arms a timer again is responsible for a callback that has panicked.
impl_unwind_safe!(Callback);
impl_unwind_safe!(WeakCallback);

/// Why a wait for the end of a callback has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoEnd {
    /// The caller is that callback.
    Own,
    /// The end may never come: the runtime is over.
    Abandoned,
    /// The time limit was reached.
    TimedOut,
}

impl Callback {
    /// Returns a timer that is not armed.
    #[inline]
    pub(crate) fn new(
        home: Arc<CoreTimers>,
        how: CallbackSpec,
        body: impl FnMut(&Self) + Send + 'static,
    ) -> Self {
        let state = CallbackState { phase: CallbackPhase::Idle, ticks: Ticks::once(None), run: 0 };
        Self(Arc::new(CallbackInner {
            home,
            how,
            is_idle: AtomicBool::new(true),
            state: UnsafeCell::new(state),
            body: UnsafeCell::new(body),
        }))
    }

    pub(crate) fn how(&self) -> &CallbackSpec {
        &self.0.how
    }

    pub(crate) fn downgrade(&self) -> WeakCallback {
        WeakCallback(Arc::downgrade(&self.0))
    }

    /// Returns an address that identifies the timer while a reference to it exists.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Arms the timer for these ticks, and for no others. Returns whether this replaced a pending
    /// call.
    #[inline]
    pub(crate) fn arm(&self, ticks: Ticks) -> bool {
        // Dropped after the lock is released, as everything that is taken out under it. Not
        // returned from the closure, since there is seldom anything.
        let mut replaced = None;
        self.with(|state, guard| {
            state.ticks = ticks;
            if let CallbackPhase::Running(fiber, then) = state.phase {
                state.phase = CallbackPhase::Running(fiber, Then::Anew);
                return then != Then::Nothing;
            }
            let was_armed = !matches!(state.phase, CallbackPhase::Idle);
            if let CallbackPhase::Armed(Some(_)) = state.phase {
                replaced = take_entry(state, guard);
            }
            self.set(state, guard);
            was_armed
        })
    }

    /// Sets the timer for the next of its ticks.
    #[inline]
    fn set(&self, state: &mut CallbackState, guard: &mut TimersGuard<'_>) {
        state.phase = match state.ticks.next {
            None => CallbackPhase::Armed(None),
            Some(when) => match guard.set_call(when, self) {
                // The runtime is gone, so nothing would call it.
                None => CallbackPhase::Idle,
                entry => CallbackPhase::Armed(entry),
            },
        };
        self.note_idle(state);
    }

    /// Cancels the timer. Returns whether this prevented a call.
    #[inline]
    pub(crate) fn cancel(&self) -> bool {
        let mut is_kept = false;
        let _entry = self.with(|state, guard| self.cancel_held(state, guard, &mut is_kept));
        is_kept
    }

    /// [Cancels](Self::cancel) the timer for a caller that has armed it and never will again. No
    /// lock is needed if the timer is idle.
    #[inline]
    pub(crate) fn cancel_for_good(&self) {
        // Relaxed: the caller itself has armed it before. Once it is idle after that, it stays
        // idle.
        if !self.0.is_idle.load(Ordering::Relaxed) {
            self.cancel();
        }
    }

    /// Returns its entry, if it had one. The flag is not returned in a pair with it: that would go
    /// through memory, written in pieces of other sizes than it is read in.
    #[inline]
    fn cancel_held(
        &self,
        state: &mut CallbackState,
        guard: &mut TimersGuard<'_>,
        is_kept: &mut bool,
    ) -> Option<Self> {
        match state.phase {
            CallbackPhase::Idle => None,
            // If the entry is gone although its moment has not come, all entries were taken when
            // the runtime ended.
            CallbackPhase::Armed(Some(_)) => {
                let entry = take_entry(state, guard);
                self.note_idle(state);
                *is_kept = entry.is_some();
                entry
            }
            CallbackPhase::Armed(None) | CallbackPhase::TimerAction => {
                state.phase = CallbackPhase::Idle;
                self.note_idle(state);
                *is_kept = true;
                None
            }
            CallbackPhase::Running(fiber, then) => {
                state.phase = CallbackPhase::Running(fiber, Then::Nothing);
                *is_kept = then != Then::Nothing;
                None
            }
        }
    }

    /// Cancels the timer, and waits for the end of a running callback, until this moment if there
    /// is one.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait and must not. Nothing is cancelled then.
    pub(crate) fn cancel_and_wait(&self, until: Option<Instant>) -> Result<bool, NoEnd> {
        let (mut is_kept, may_wait, own) = (false, suspend::may_wait(), running_fiber());
        let cancelled = self.with(|state, guard| {
            let running = state.running();
            let has_to_wait = running.is_some_and(|(_, fiber)| own != Some(fiber));
            (may_wait || !has_to_wait).then(|| (self.cancel_held(state, guard, &mut is_kept), running))
        });
        let Some((_entry, running)) = cancelled else { panic!("{}", suspend::NO_SUSPEND) };
        match running {
            None => Ok(is_kept),
            Some((_, fiber)) if own == Some(fiber) => Err(NoEnd::Own),
            Some((run, _)) => self.wait_for(run, until).map(|()| is_kept),
        }
    }

    /// Waits for the end of a callback.
    fn wait_for(&self, run: u64, until: Option<Instant>) -> Result<(), NoEnd> {
        let (mut number, on) = (None, WaitKind::Timer.on(&*self.0));
        let cause = suspend::wait(suspend::Phase::Later, on, Ends::ByEvent, until, |waiter| {
            number =
                self.with(|state, guard| state.is_running(run).then(|| guard.wait(self, waiter)).flatten());
            number.is_some()
        });
        self.with(|state, guard| {
            if let (Cause::Time, Some(number)) = (cause, number) {
                guard.give_up(self, number);
            }
            match cause {
                _ if !state.is_running(run) => Ok(()),
                Cause::Time => Err(NoEnd::TimedOut),
                Cause::Event | Cause::Unpark | Cause::Cancel => Err(NoEnd::Abandoned),
            }
        })
    }

    /// Returns whether a call is to come, or is about to begin.
    pub(crate) fn is_armed(&self) -> bool {
        self.with(|state, _| match state.phase {
            CallbackPhase::Idle => false,
            CallbackPhase::Armed(_) | CallbackPhase::TimerAction => true,
            CallbackPhase::Running(_, then) => then != Then::Nothing,
        })
    }

    /// Records that the timer is due, and that its entry was taken out. Returns the number of this
    /// call.
    ///
    /// # Safety
    ///
    /// The caller holds the lock of the home's timers.
    pub(super) unsafe fn come_due(&self) -> u64 {
        // SAFETY: the invariant of `state`, and the caller's promise.
        let state = unsafe { &mut *self.0.state.get() };
        state.phase = CallbackPhase::TimerAction;
        state.run += 1;
        state.run
    }

    /// Runs the callback, in the fiber of this call, unless the call is late.
    pub(crate) fn run(self, run: u64) {
        let Some(fiber) = running_fiber().filter(|fiber| self.begin(run, *fiber)) else { return };
        // SAFETY: the invariant of `body`: the timer was due, and is running now.
        let body = unsafe { &mut *self.0.body.get() };
        let ended = catch_unwind(AssertUnwindSafe(|| body(&self)));
        self.end(fiber, ended.is_err());
        if let Err(payload) = ended {
            // If this is the last reference, the callback is dropped here, and not while the panic
            // unwinds: a panic of its destructor would abort the process.
            unwind::catch(|| drop(self));
            // The fiber ends by this panic, which the hook has reported.
            resume_unwind(payload);
        }
    }

    fn begin(&self, run: u64, fiber: NonZero<u64>) -> bool {
        self.with(|state, _| {
            let is_due = matches!(state.phase, CallbackPhase::TimerAction) && state.run == run;
            if is_due {
                let then = if state.ticks.period.is_some() { Then::NextTick } else { Then::Nothing };
                state.phase = CallbackPhase::Running(fiber, then);
            }
            is_due
        })
    }

    /// Records the end of the callback. After a panic, the next tick does not come: the callback's
    /// data may be half-changed.
    fn end(&self, fiber: NonZero<u64>, has_panicked: bool) {
        self.with(|state, guard| {
            let CallbackPhase::Running(by, then) = state.phase else { return };
            debug_assert!(by == fiber, "callbacks of a timer never overlap");
            state.phase = CallbackPhase::Idle;
            match then {
                Then::NextTick if !has_panicked => {
                    state.ticks.advance(clock::now());
                    self.set(state, guard);
                }
                Then::Anew => self.set(state, guard),
                Then::Nothing | Then::NextTick => self.note_idle(state),
            }
            guard.wake(self);
        });
    }

    /// Gives up this call, whose fiber will not begin.
    pub(crate) fn give_up(&self, run: u64) {
        self.with(|state, _| {
            if matches!(state.phase, CallbackPhase::TimerAction) && state.run == run {
                state.phase = CallbackPhase::Idle;
                self.note_idle(state);
            }
        });
    }

    #[inline]
    fn note_idle(&self, state: &CallbackState) {
        self.0.is_idle.store(matches!(state.phase, CallbackPhase::Idle), Ordering::Relaxed);
    }

    #[inline]
    fn with<R>(&self, body: impl FnOnce(&mut CallbackState, &mut TimersGuard<'_>) -> R) -> R {
        self.0.home.with_lock(|guard| {
            // SAFETY: the invariant of `state`: this thread holds its lock, and no caller on this
            // thread holds it already, since it would deadlock.
            let state = unsafe { &mut *self.0.state.get() };
            body(state, guard)
        })
    }
}

/// Takes the entry of an armed timer, which becomes idle.
#[inline]
fn take_entry(state: &mut CallbackState, guard: &mut TimersGuard<'_>) -> Option<Callback> {
    match std::mem::replace(&mut state.phase, CallbackPhase::Idle) {
        CallbackPhase::Armed(entry) => guard.cancel_call(entry?),
        CallbackPhase::Idle | CallbackPhase::TimerAction | CallbackPhase::Running(..) => None,
    }
}

/// Returns the number of the calling fiber.
fn running_fiber() -> Option<NonZero<u64>> {
    // SAFETY: the fiber runs, so its control block is alive.
    suspend::running().map(|(_, control)| unsafe { control.as_ref() }.birth.id)
}

impl WeakCallback {
    /// Returns the timer, if it still exists.
    pub(crate) fn upgrade(&self) -> Option<Callback> {
        self.0.upgrade().map(Callback)
    }

    /// Returns an address that differs from that of any other timer while this value exists.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl_debug!(Callback, |callback| { how: callback.0.how, .. });
