//! The user's functions that a worker calls at certain moments.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::task::Context;
use crate::unwind;

/// A function that a worker calls.
pub(crate) type Hook = Arc<dyn Fn(&Context<'_>) + Send + Sync>;
/// A function that a worker calls before its first task. If it fails, the worker runs no task.
pub(crate) type StartHook = Arc<dyn Fn(&Context<'_>) -> io::Result<()> + Send + Sync>;

/// The hooks that were set.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) start: Option<StartHook>,
    pub(crate) stop: Option<Hook>,
    pub(crate) stay: Option<Hook>,
    pub(crate) before_sleep: Option<Hook>,
    pub(crate) on_work: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Drop for Hooks {
    /// Drops each hook, even if the destructor of another one panics: they hold the user's values.
    /// The pool may end on any thread, so panics end here.
    fn drop(&mut self) {
        let Self { start, stop, stay, before_sleep, on_work } = self;
        unwind::catch(|| drop(start.take()));
        for hook in [stop, stay, before_sleep] {
            unwind::catch(|| drop(hook.take()));
        }
        unwind::catch(|| drop(on_work.take()));
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = |hook: &Option<Hook>| hook.is_some();
        f.debug_struct("Hooks")
            .field("start", &self.start.is_some())
            .field("stop", &set(&self.stop))
            .field("stay", &set(&self.stay))
            .field("before_sleep", &set(&self.before_sleep))
            .field("on_work", &self.on_work.is_some())
            .finish()
    }
}
