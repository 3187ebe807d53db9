//! Functions that are called whenever a fiber is about to continue, and whenever it was suspended.
//! Knows no switch.
//!
//! The run function of an engine without hooks does not even check for them: see
//! [`run`](super::run).

use std::fmt;
use std::sync::Arc;

use crate::rt::base::unwind;
use crate::rt::wait::{AmbientSlot, WorkerLocal, region};

/// A switch hook.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// The switch hooks of an engine.
#[derive(Clone, Default)]
pub(crate) struct SwitchHooks {
    resume: Vec<Hook>,
    suspend: Vec<Hook>,
}

impl SwitchHooks {
    pub(crate) fn on_resume(&mut self, hook: Hook) {
        self.resume.push(hook);
    }

    pub(crate) fn on_suspend(&mut self, hook: Hook) {
        self.suspend.push(hook);
    }

    /// Returns whether there are no hooks.
    pub(crate) fn is_empty(&self) -> bool {
        self.resume.is_empty() && self.suspend.is_empty()
    }

    /// Calls the hooks for a fiber that is about to continue. It counts as the running fiber.
    pub(crate) fn resume(&self, local: &WorkerLocal) {
        call(local, self.resume.iter());
    }

    /// Calls the hooks for a fiber that was suspended. It still counts as the running fiber. The
    /// order is the reverse of that of registration.
    pub(crate) fn suspend(&self, local: &WorkerLocal) {
        call(local, self.suspend.iter().rev());
    }
}

impl Drop for SwitchHooks {
    fn drop(&mut self) {
        unwind::drop_each(|| self.resume.pop().or_else(|| self.suspend.pop()));
    }
}

/// Calls hooks. They run on the worker's stack, not on the fiber's: a wait there would suspend the
/// wrong stack. What they do for themselves, such as forbidding waits or entering a region, does
/// not affect the fiber.
fn call<'a>(local: &WorkerLocal, hooks: impl Iterator<Item = &'a Hook>) {
    local.between(|| {
        for hook in hooks {
            unwind::catch(|| hook());
            region::with_ambient(AmbientSlot::leave_switch);
        }
    });
}

impl fmt::Debug for SwitchHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resume, suspend) = (self.resume.len(), self.suspend.len());
        f.debug_struct("SwitchHooks").field("resume", &resume).field("suspend", &suspend).finish()
    }
}
