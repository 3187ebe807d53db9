//! The fiber that calls back when a timer is due. The one place where such fibers are made.
//!
//! # Safety
//!
//! Trusted with what such a fiber owns: a reference to its timer, whose body may be sent.
#![expect(unsafe_code, reason = "making a fiber is a promise about what it holds")]

use super::body::{Body, BodyTurn};
use super::spawn::{Attributes, Site, SpawnRefused, spawn};
use crate::rt::timer::Callback;
use crate::rt::wait::{AmbientSlot, Force, region};

/// One time that a timer is due. If it is dropped, nobody is called.
#[derive(Debug)]
pub(crate) struct CallbackFiber {
    /// Until it begins.
    timer: Option<Callback>,
    run: u64,
}

impl CallbackFiber {
    /// The moment of a timer has come, for the time of this number.
    pub(crate) fn new(timer: Callback, run: u64) -> Self {
        Self { timer: Some(timer), run }
    }

    /// Makes the fiber. If it is refused, since the runtime is being shut down, nobody is called,
    /// and the timer is kept until it is over: its destructor is a user's, and this worker's fibers
    /// are not to wait for it.
    pub(crate) fn start(self, site: Site<'_>) {
        let Some(timer) = &self.timer else { return };
        let (name, stack_size) = timer.how().name_and_stack();
        let attributes =
            Attributes { name, stack_size, is_limited: false, ..Attributes::new(timer.how().location) };
        // SAFETY: a call owns what it uses, and that may be sent. The site is the caller's.
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
            // What was in force where this fiber was made is of no interest: a worker was about to
            // look at its timers.
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
