//! A flag that others wait for: one of them takes it, or all go on for as long as it is set. Knows no value.
//!
//! It is changed under the lock of the queue, and read without. As long as somebody waits, it is not set: whoever sets it finds the waiter,
//! since that entered the queue when it saw, under the lock, that it was not. So whoever comes later overtakes nobody.

use std::array;

use super::RawGate;
use super::gate::{Came, Openings, new_comer, place};
use crate::rt::sync::{AtomicBool, Ordering, constant};
use crate::rt::{self, Claimed, Door, Entrance, GaveUp, Limit, Locked, WaitKind, pick, wait_in_all};

/// When it is no longer set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// When one has gone on.
    Auto,
    /// When somebody says so.
    Manual,
}

/// So many are waited for at once without allocation.
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

    /// Sets it for the waiter that came last.
    pub(crate) fn set_for_last(&self) {
        self.set_for(|queue| queue.claim(pick::Last, |_| (), |_| ()));
    }

    /// Lets the waiter go on that `claim` returns. Sets the event if there is none.
    fn set_for(&self, claim: impl FnOnce(&mut Locked<'_, Openings, Came>) -> Option<Claimed>) {
        let mut queue = self.gate.queue.lock();
        let claimed = claim(&mut queue);
        if claimed.is_none() {
            self.is_set.store(true, Ordering::Release);
        }
        drop(queue);
        claimed.into_iter().for_each(Claimed::go);
    }

    /// Has those go on who wait now, and stays as it is.
    pub(crate) fn wake_all(&self) {
        self.gate.open_if(|| true);
    }

    pub(crate) fn reset(&self) {
        let _queue = self.gate.queue.lock();
        // Relaxed: it says nothing.
        self.is_set.store(false, Ordering::Relaxed);
    }

    /// Goes on, if it is set.
    #[inline]
    pub(crate) fn try_wait(&self) -> bool {
        self.is_set() && (self.reset == Reset::Manual || self.try_take())
    }

    fn try_take(&self) -> bool {
        let _queue = self.gate.queue.lock();
        self.take()
    }

    /// Whether it was set. For whoever has the lock.
    fn take(&self) -> bool {
        let is_set = self.is_set();
        if self.reset == Reset::Auto {
            // Relaxed: as in `reset`.
            self.is_set.store(false, Ordering::Relaxed);
        }
        is_set
    }

    /// Waits until it is set.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit) -> Result<(), GaveUp> {
        rt::spend(1);
        if self.try_wait() { Ok(()) } else { self.gate.wait(kind, limit, || self.take()).into_result() }
    }

    /// For a wait for several of them.
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

/// The first of so many that is set, if one is. It is taken.
pub(crate) fn try_wait_any<'e>(many: usize, event: impl Fn(usize) -> &'e RawEvent) -> Option<usize> {
    (0..many).find(|&index| event(index).try_wait())
}

/// Waits until one of so many is set. Exactly one is taken.
///
/// # Errors
///
/// If the limit is reached before.
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
