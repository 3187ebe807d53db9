//! Regions of code with ambient values for the caller: a deadline, a node that cancels it, values.
//! Knows where a fiber and a thread keep them.
//!
//! # Safety
//!
//! Trusted with the running fiber.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::sync::Arc;

use super::ambient::{Ambient, AmbientSlot, Force};
use super::suspend::{in_switch_hook, running};
use super::tls;
use super::values::Values;
use crate::rt::base::unwind;

/// Passes the caller's slot of ambient values to `look`, which runs no user code.
#[inline]
pub(crate) fn with_ambient<R>(look: impl FnOnce(&AmbientSlot) -> R) -> R {
    match running() {
        // SAFETY: the fiber runs, so its control block is alive, and the caller may touch its
        // ambient values.
        Some((_, control)) => look(&unsafe { control.as_ref() }.ambient),
        None => tls::with_ambient(look),
    }
}

/// Returns the values that are in force for the caller.
pub(crate) fn current_values() -> Values {
    let values =
        |now: Option<&Arc<Ambient>>| now.map_or_else(Values::default, |now| now.force.values.clone());
    with_ambient(|slot| slot.look(values))
}

/// Runs `body` with the ambient values changed by `change`, which runs no code that reads them.
pub(crate) fn region<R>(change: impl FnOnce(&mut Force), body: impl FnOnce() -> R) -> R {
    let _until_it_ends = Region::enter(change);
    body()
}

/// Ends a region when it is dropped.
///
/// # Invariant
///
/// `Some` until it is dropped, and in force only in the fiber or thread that entered it: others get
/// its content, not the value itself.
struct Region(Option<Arc<Ambient>>);

impl Region {
    fn enter(change: impl FnOnce(&mut Force)) -> Self {
        with_ambient(|slot| {
            let outer = slot.take();
            let mut force = outer.as_deref().map_or_else(Force::default, |outer| outer.force.clone());
            change(&mut force);
            let ambient = Ambient::inside(outer, force, in_switch_hook());
            slot.put(Some(ambient.clone()));
            Self(Some(ambient))
        })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(ambient) = self.0.take() {
            let in_force = with_ambient(|slot| slot.leave(&ambient));
            unwind::catch(|| drop((in_force, ambient)));
        }
    }
}
