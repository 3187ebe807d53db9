//! Functions that are called whenever a fiber is about to go on, and whenever it has let go of its worker. Knows no switch.
//!
//! An engine without any has tasks whose run function does not even ask: see [`run`](super::run).

use std::fmt;
use std::sync::Arc;

use crate::rt::base::unwind;
use crate::rt::wait::{AmbientSlot, WorkerLocal, region};

/// One of them.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// All of an engine's.
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

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.resume.is_empty() && self.suspend.is_empty()
    }

    /// A fiber, which counts as the one that runs, is about to go on.
    pub(crate) fn resume(&self, local: &WorkerLocal) {
        call(local, self.resume.iter());
    }

    /// A fiber, which still counts as the one that runs, has let go. The last one that was called when it went on is the first.
    pub(crate) fn suspend(&self, local: &WorkerLocal) {
        call(local, self.suspend.iter().rev());
    }
}

impl Drop for SwitchHooks {
    fn drop(&mut self) {
        unwind::drop_each(|| self.resume.pop().or_else(|| self.suspend.pop()));
    }
}

/// They run on the worker's stack, not on the fiber's: a wait there would suspend the wrong stack. What they do to themselves,
/// such as forbidding waits or entering a region, does not concern the fiber.
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
