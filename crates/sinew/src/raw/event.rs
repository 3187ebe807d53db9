//! A flag that callers wait for: one waiter takes it, or all waiters return while it is set. Knows
//! no value.
//!
//! The flag changes under the lock of the queue, and is read without it. While there are waiters,
//! it is not set: a waiter enters the queue after it has seen, under the lock, that the flag is not
//! set, so the caller that sets it finds the waiter. So a later caller never overtakes a waiter.

use std::array;

use super::RawGate;
use super::gate::{Came, Openings, new_comer, place};
use crate::rt::sync::{AtomicBool, Ordering, constant};
use crate::rt::{self, Claimed, Door, Entrance, GaveUp, Limit, Locked, WaitKind, pick, wait_in_all};

/// When the flag is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// When a waiter returns.
    Auto,
    /// When a caller resets it.
    Manual,
}

/// Up to this number of events, a wait does not allocate.
const FEW: usize = if cfg!(loom) { 2 } else { 8 };

/// The event.
pub(crate) struct RawEvent {
    reset: Reset,
    is_set: AtomicBool,
    gate: RawGate,
}

impl RawEvent {
    constant! {
        pub(crate) fn new(reset: Reset) -> Self {
            Self { reset, is_set: AtomicBool::new(false), gate: RawGate::new() }
        }
    }

    pub(crate) fn resets(&self) -> Reset {
        self.reset
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Acquire: pairs with the release of `set`.
        self.is_set.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) {
        match self.reset {
            Reset::Auto => self.set_for_one(),
            Reset::Manual => self.gate.open_if(|| {
                self.is_set.store(true, Ordering::Release);
                true
            }),
        }
    }

    fn set_for_one(&self) {
        self.set_for(|queue| queue.claim(pick::First, |_| (), |_| ()));
    }

    /// Sets the event for the waiter that came last.
    pub(crate) fn set_for_last(&self) {
        self.set_for(|queue| queue.claim(pick::Last, |_| (), |_| ()));
    }

    /// Wakes the waiter that `claim` returns. Sets the event if there is none.
    fn set_for(&self, claim: impl FnOnce(&mut Locked<'_, Openings, Came>) -> Option<Claimed>) {
        let mut queue = self.gate.queue.lock();
        let claimed = claim(&mut queue);
        if claimed.is_none() {
            self.is_set.store(true, Ordering::Release);
        }
        drop(queue);
        claimed.into_iter().for_each(Claimed::go);
    }

    /// Wakes all current waiters, and leaves the flag as it is.
    pub(crate) fn wake_all(&self) {
        self.gate.open_if(|| true);
    }

    pub(crate) fn reset(&self) {
        let _queue = self.gate.queue.lock();
        // Relaxed: a cleared flag publishes nothing.
        self.is_set.store(false, Ordering::Relaxed);
    }

    /// Returns whether the flag is set, and takes it if it resets itself.
    #[inline]
    pub(crate) fn try_wait(&self) -> bool {
        self.is_set() && (self.reset == Reset::Manual || self.try_take())
    }

    fn try_take(&self) -> bool {
        let _queue = self.gate.queue.lock();
        self.take()
    }

    /// Returns whether the flag was set, and takes it. The caller holds the lock of the queue.
    fn take(&self) -> bool {
        let is_set = self.is_set();
        if self.reset == Reset::Auto {
            // Relaxed: as in `reset`.
            self.is_set.store(false, Ordering::Relaxed);
        }
        is_set
    }

    /// Waits until the event is set.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
    #[inline]
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit) -> Result<(), GaveUp> {
        rt::spend(1);
        if self.try_wait() { Ok(()) } else { self.gate.wait(kind, limit, || self.take()).into_result() }
    }

    /// Returns the entrance for a wait for several events.
    fn door(&self) -> impl Door {
        Entrance::new(
            &self.gate.queue,
            new_comer(),
            |queue, came| if self.is_set() { None } else { place(queue, came) },
            |_, _| {
                self.take();
            },
        )
    }
}

/// Takes the first of `many` events that is set, and returns its position.
pub(crate) fn try_wait_any<'e>(many: usize, event: impl Fn(usize) -> &'e RawEvent) -> Option<usize> {
    (0..many).find(|&index| event(index).try_wait())
}

/// Waits until one of `many` events is set, and takes exactly one.
///
/// # Errors
///
/// Returns an error if the limit is reached first.
pub(crate) fn wait_any<'e>(
    many: usize,
    event: impl Fn(usize) -> &'e RawEvent,
    limit: Limit,
) -> Result<usize, GaveUp> {
    rt::spend(1);
    if let Some(index) = try_wait_any(many, &event) {
        return Ok(index);
    }
    if many > FEW {
        return wait_at(&(0..many).map(|index| event(index).door()).collect::<Vec<_>>(), limit);
    }
    let doors: [_; FEW] = array::from_fn(|index| event(index.min(many - 1)).door());
    wait_at(&doors[..many], limit)
}

fn wait_at(doors: &[impl Door], limit: Limit) -> Result<usize, GaveUp> {
    let (outcome, index) = wait_in_all(WaitKind::Event.alone(), doors, limit);
    outcome.into_result()?;
    Ok(index.expect("one of them ended the wait"))
}
