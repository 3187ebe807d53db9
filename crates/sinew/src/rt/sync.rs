//! The one place where atomics and locks come from that models see: std, or the model checker's twins under `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::{hint::spin_loop, thread::yield_now};
#[cfg(not(loom))]
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::PoisonError;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

/// A constant function; not for the checker, whose types cannot be made in one.
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

/// Between two accesses that are sequentially consistent: the checker takes such accesses for weaker ones, but not fences.
#[inline(always)]
pub(crate) fn order_all() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}
