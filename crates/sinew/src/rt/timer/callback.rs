//! A timer that calls back: made once, armed as often as one likes. Knows neither fibers nor what the callback does.
//!
//! All of its state is under the lock of one driver's timers, its home, where its entry lies while it is armed: arming is one lock, and so is
//! cancelling.
//!
//! | from \ by | arm | its moment | its fiber begins | the callback has ended | cancel |
//! | --- | --- | --- | --- | --- | --- |
//! | idle | armed | – | nothing: it is late | – | – |
//! | armed | armed anew | due | as above | – | idle, and one **kept** from being called |
//! | due | armed anew | – | running | – | the same |
//! | running | running, then anew | – | as above | armed again, or idle | running, then idle |
//!
//! So callbacks of one timer never overlap. Each time that it is due has a number, by which a fiber that is late knows that it is.
//!
//! # Safety
//!
//! Trusted with two cells: the state, under the lock of the timer's home, and the body, which only a fiber touches that has found it due.
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

/// A reference to such a timer.
#[derive(Clone)]
pub(crate) struct Callback(Arc<CallbackInner<CallbackBody>>);

/// What is called.
type CallbackBody = dyn FnMut(&Callback) + Send;

/// A reference that does not keep what is called.
#[derive(Clone)]
pub(crate) struct WeakCallback(Weak<CallbackInner<CallbackBody>>);

struct CallbackInner<F: ?Sized> {
    home: Arc<CoreTimers>,
    how: CallbackSpec,
    /// Nothing is to come, for a look without the lock. Changed under it.
    is_idle: AtomicBool,
    /// # Invariant
    ///
    /// Touched under the lock of `home` only.
    state: UnsafeCell<CallbackState>,
    /// # Invariant
    ///
    /// Touched only by the fiber that has set the state to running, until it has set it to something else.
    body: UnsafeCell<F>,
}

// SAFETY: the cells are under their invariants, which pass them from one thread to the next, and the body may be sent.
unsafe impl<F: Send + ?Sized> Send for CallbackInner<F> {}
// SAFETY: as above.
unsafe impl<F: Send + ?Sized> Sync for CallbackInner<F> {}

// Nothing of a timer is seen half done through these, whatever a panic interrupts: its state is under a lock, and a callback that panicked is the
// affair of whoever arms it again.
impl_unwind_safe!(Callback);
impl_unwind_safe!(WeakCallback);

/// Why nobody waits for the end of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoEnd {
    /// The caller is that callback.
    Own,
    /// It may never come: the runtime is over.
    Abandoned,
    /// The time was over.
    TimedOut,
}

impl Callback {
    /// One that is not armed.
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

    /// Its name for as long as somebody has it.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Has it be due at these moments, and at no others. Whether that has kept it from being called at another one.
    #[inline]
    pub(crate) fn arm(&self, ticks: Ticks) -> bool {
        // Dropped when the lock is not held any more, as all that comes out of it. Not returned from there, since most often there is none.
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

    /// Sets what `ticks` say.
    #[inline]
    fn set(&self, state: &mut CallbackState, guard: &mut TimersGuard<'_>) {
        state.phase = match state.ticks.next {
            None => CallbackPhase::Armed(None),
            Some(when) => match guard.set_call(when, self) {
                // The runtime is gone, and nobody would hear of it.
                None => CallbackPhase::Idle,
                entry => CallbackPhase::Armed(entry),
            },
        };
        self.note_idle(state);
    }

    /// Cancels it. Whether that has kept it from being called.
    #[inline]
    pub(crate) fn cancel(&self) -> bool {
        let mut is_kept = false;
        let _entry = self.with(|state, guard| self.cancel_held(state, guard, &mut is_kept));
        is_kept
    }

    /// The same for whoever has armed it, and will not again: the lock is not needed if it is over.
    #[inline]
    pub(crate) fn cancel_for_good(&self) {
        // Relaxed: it was armed before this, by the caller; and once it is idle after that, it stays so.
        if !self.0.is_idle.load(Ordering::Relaxed) {
            self.cancel();
        }
    }

    /// Returns its entry, if it had one. Not as a pair with the other: that would go through memory, in pieces of other sizes than it is read in.
    #[inline]
    fn cancel_held(
        &self,
        state: &mut CallbackState,
        guard: &mut TimersGuard<'_>,
        is_kept: &mut bool,
    ) -> Option<Self> {
        match state.phase {
            CallbackPhase::Idle => None,
            // Nobody took the entry when its time came, if it is gone: all of them were taken when the runtime ended.
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

    /// Cancels it, and waits for the end of a callback that runs, until this moment if there is one.
    ///
    /// # Panics
    ///
    /// If it would have to wait where it must not; nothing is cancelled then.
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

    /// Whether it is to be called, or is about to be.
    pub(crate) fn is_armed(&self) -> bool {
        self.with(|state, _| match state.phase {
            CallbackPhase::Idle => false,
            CallbackPhase::Armed(_) | CallbackPhase::TimerAction => true,
            CallbackPhase::Running(_, then) => then != Then::Nothing,
        })
    }

    /// Its moment has come, and its entry was taken out. Returns the number of this time.
    ///
    /// # Safety
    ///
    /// The caller has the lock of the home's timers.
    pub(super) unsafe fn come_due(&self) -> u64 {
        // SAFETY: the invariant of `state`, and the caller's promise.
        let state = unsafe { &mut *self.0.state.get() };
        state.phase = CallbackPhase::TimerAction;
        state.run += 1;
        state.run
    }

    /// The fiber of this time begins: calls back, unless it is late.
    pub(crate) fn run(self, run: u64) {
        let Some(fiber) = running_fiber().filter(|fiber| self.begin(run, *fiber)) else { return };
        // SAFETY: the invariant of `body`: it was due, and runs now.
        let body = unsafe { &mut *self.0.body.get() };
        let ended = catch_unwind(AssertUnwindSafe(|| body(&self)));
        self.end(fiber, ended.is_err());
        if let Err(payload) = ended {
            // If nobody else has the timer, the callback goes with it. Not while the panic unwinds:
            // a panic of its destructor would abort the process.
            unwind::catch(|| drop(self));
            // The fiber ends by it, and the hook has told of it.
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

    /// The callback has ended. After a panic, its next tick does not come: what it holds may be half done.
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

    /// The fiber of this time will not begin.
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
            // SAFETY: the invariant of `state`: its lock is held, by nobody else, and not by whoever called this, who would wait for himself.
            let state = unsafe { &mut *self.0.state.get() };
            body(state, guard)
        })
    }
}

/// Takes the entry of a timer that is armed, which is idle then.
#[inline]
fn take_entry(state: &mut CallbackState, guard: &mut TimersGuard<'_>) -> Option<Callback> {
    match std::mem::replace(&mut state.phase, CallbackPhase::Idle) {
        CallbackPhase::Armed(entry) => guard.cancel_call(entry?),
        CallbackPhase::Idle | CallbackPhase::TimerAction | CallbackPhase::Running(..) => None,
    }
}

/// The number of the fiber that calls this.
fn running_fiber() -> Option<NonZero<u64>> {
    // SAFETY: it runs, so it is there.
    suspend::running().map(|(_, control)| unsafe { control.as_ref() }.birth.id)
}

impl WeakCallback {
    /// The timer; none, if it is gone.
    pub(crate) fn upgrade(&self) -> Option<Callback> {
        self.0.upgrade().map(Callback)
    }

    /// Differs from that of any other timer for as long as this value is there.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl_debug!(Callback, |callback| { how: callback.0.how, .. });
