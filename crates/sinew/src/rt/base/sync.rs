//! The one source of atomics and locks for code that models check: std, or loom's counterparts
//! under `--cfg loom`.

#[cfg(loom)]
use loom::{hint, sync, thread};
use std::sync::{LockResult, PoisonError};
#[cfg(not(loom))]
use std::{hint, sync, thread};

pub(crate) use self::hint::spin_loop;
use self::sync::Mutex;
pub(crate) use self::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(crate) use self::sync::{Condvar, MutexGuard};
pub(crate) use self::thread::yield_now;

/// A constant function, except under loom, whose types cannot be made in one.
macro_rules! constant {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($arguments:tt)*) -> $result:ty $body:block) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visibility const fn $name($($arguments)*) -> $result $body
        #[cfg(loom)]
        $(#[$attribute])*
        $visibility fn $name($($arguments)*) -> $result $body
    };
}
pub(crate) use constant;

/// A mutex that ignores poison.
///
/// The value is consistent at each point under the lock where user code (a hook, a closure, a
/// destructor) can unwind. So the next holder can use it after a panic.
///
/// A static that also exists in models uses std's mutex with [`ignore_poison`] instead: loom's
/// mutex has no constant constructor, and ends with a run of the model.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    constant! {
        pub(crate) fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        ignore_poison(self.0.lock())
    }

    #[cfg(loom)]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        ignore_poison(self.0.get_mut())
    }
}

/// Returns the guard of a lock, poisoned or not, for the reason that [`Lock`] gives.
#[inline]
pub(crate) fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// A fence between two sequentially consistent accesses, for loom only: it treats such accesses as
/// weaker ones, but not fences.
#[inline(always)]
pub(crate) fn order_all() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}
