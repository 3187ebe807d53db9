//! The fiber that runs the callback of a due timer. Only this file makes such fibers.
//!
//! # Safety
//!
//! Trusted with what such a fiber owns: a reference to its timer, whose body is `Send`.
#![expect(unsafe_code, reason = "making a fiber is a promise about what it holds")]

use super::body::{Body, BodyTurn};
use super::spawn::{Attributes, Site, SpawnRefused, spawn};
use crate::rt::timer::Callback;
use crate::rt::wait::{AmbientSlot, Force, region};

/// One call of a timer that is due. If it is dropped, the callback is not called.
#[derive(Debug)]
pub(crate) struct CallbackFiber {
    /// The timer, until the call begins.
    timer: Option<Callback>,
    run: u64,
}

impl CallbackFiber {
    /// Returns the call with this number of a timer that is due.
    pub(crate) fn new(timer: Callback, run: u64) -> Self {
        Self { timer: Some(timer), run }
    }

    /// Spawns the fiber. If the runtime is being shut down and refuses it, the callback is not
    /// called, and the timer is kept until the runtime is over: the destructor of the timer is user
    /// code, and must not delay this worker's fibers.
    pub(crate) fn start(self, site: Site<'_>) {
        let Some(timer) = &self.timer else { return };
        let (name, stack_size) = timer.how().name_and_stack();
        let attributes =
            Attributes { name, stack_size, is_limited: false, ..Attributes::new(timer.how().location) };
        // SAFETY: the call owns what it uses, and all of that is `Send`. The site is the caller's.
        if let Err(SpawnRefused { mut body, .. }) = unsafe { spawn::<Self, ()>(site, attributes, self) }
            && let Some(timer) = body.give_up()
        {
            site.host().homes.keep(timer);
        }
    }

    fn give_up(&mut self) -> Option<Callback> {
        let timer = self.timer.take()?;
        timer.give_up(self.run);
        Some(timer)
    }
}

impl Body<()> for CallbackFiber {
    fn turn(mut self) -> BodyTurn<Self, ()> {
        if let Some(timer) = self.timer.take() {
            let (values, run) = (timer.how().values.clone(), || timer.run(self.run));
            // The ambient values where this fiber was spawned do not matter: a worker was checking
            // its timers.
            if values.is_empty() && region::with_ambient(AmbientSlot::is_empty) {
                run();
            } else {
                region::region(|force| *force = Force { values, ..Force::default() }, run);
            }
        }
        BodyTurn::Last(())
    }
}

impl Drop for CallbackFiber {
    fn drop(&mut self) {
        self.give_up();
    }
}
