//! A lock that is cheap for one thread, its owner, and expensive for all others, its guests. Knows
//! nothing of what it protects.
//!
//! The owner stores that it is inside, and then loads whether a guest holds the lock. A guest
//! stores that it holds the lock, and then loads whether the owner is inside. If both happen at
//! once, one of the two must see the other, which takes a barrier between the two accesses of each.
//! The owner enters often, so it has none: the guest lets the kernel run one on all threads of the
//! process, between its own accesses ([membarrier]). The owner's two accesses are before that
//! barrier, after it, or on both sides of it:
//!
//! - both before: the guest sees that the owner is inside, or that it has left again;
//! - the second one after: the owner sees the guest.
//!
//! Where the kernel has no such call, the owner runs a barrier of its own. It learns that from the
//! same word in which it looks for a guest, so this costs nothing elsewhere.
//!
//! [membarrier]: https://man7.org/linux/man-pages/man2/membarrier.2.html

use std::sync::atomic::compiler_fence;

use super::sync::{AtomicBool, AtomicU32, Lock, MutexGuard, Ordering, fence, yield_now};

/// A guest holds the lock, or is about to.
const HELD: u32 = 1;
/// Guests have no barrier for other threads, so the owner needs one.
const FENCED: u32 = 2;

/// The lock.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    /// Whether the owner is inside. Written by the owner only.
    is_inside: AtomicBool,
    /// `HELD` changes under the lock of guests. `FENCED` never changes.
    word: AtomicU32,
    /// Locked by the guest that holds this.
    guests: Lock<()>,
}

impl Default for OwnerLock {
    fn default() -> Self {
        let word = if barrier::is_for_all_threads() { 0 } else { FENCED };
        Self { is_inside: AtomicBool::new(false), word: AtomicU32::new(word), guests: Lock::new(()) }
    }
}

impl OwnerLock {
    /// Calls `body` while no guest holds the lock. Called by the owner only. `body` must neither
    /// panic nor call this again.
    #[inline]
    pub(crate) fn with<R>(&self, body: impl FnOnce() -> R) -> R {
        self.is_inside.store(true, Ordering::Relaxed);
        // A guest's barrier makes this a barrier for the processor too, as the module's comment
        // argues.
        compiler_fence(Ordering::SeqCst);
        // Acquire: pairs with the release in the drop of a guest that has held the lock before.
        if self.word.load(Ordering::Acquire) != 0 {
            self.enter_slow();
        }
        let result = body();
        // Release: a guest that sees this store sees everything that `body` did.
        self.is_inside.store(false, Ordering::Release);
        result
    }

    #[cold]
    fn enter_slow(&self) {
        loop {
            // Between the store of `is_inside` and the load of `word`, on each path.
            fence(Ordering::SeqCst);
            if self.word.load(Ordering::Acquire) & HELD == 0 {
                return;
            }
            self.is_inside.store(false, Ordering::Release);
            drop(self.guests.lock());
            self.is_inside.store(true, Ordering::Relaxed);
        }
    }
}

/// Holds several locks at once, as a guest. From then on, the owners wait when they want to enter.
///
/// Returns `None` if the kernel refuses the barrier although it has registered the process for it.
pub(crate) fn hold_all<'a>(locks: impl Iterator<Item = &'a OwnerLock>) -> Option<Vec<OwnerHeld<'a>>> {
    let held: Vec<_> = locks.map(OwnerHeld::announce).collect();
    barrier::run()?;
    held.iter().for_each(OwnerHeld::wait_for_owner);
    Some(held)
}

/// A lock that a guest holds.
pub(crate) struct OwnerHeld<'a> {
    lock: &'a OwnerLock,
    _guests: MutexGuard<'a, ()>,
}

impl<'a> OwnerHeld<'a> {
    fn announce(lock: &'a OwnerLock) -> Self {
        let guests = lock.guests.lock();
        lock.word.fetch_or(HELD, Ordering::Relaxed);
        Self { lock, _guests: guests }
    }

    /// Waits until the owner is outside. It is inside for a few instructions only, and does not
    /// enter again.
    fn wait_for_owner(&self) {
        // Acquire: pairs with the release of an owner that has left.
        while self.lock.is_inside.load(Ordering::Acquire) {
            yield_now();
        }
    }
}

impl Drop for OwnerHeld<'_> {
    fn drop(&mut self) {
        // Before the guests' lock is released, which is a field. Release: the owner enters after
        // everything that the guest has read.
        self.lock.word.fetch_and(!HELD, Ordering::Release);
    }
}

#[cfg(not(loom))]
mod barrier {
    use std::sync::OnceLock;

    use rustix::thread::{MembarrierCommand, membarrier};

    use super::{Ordering, fence};

    /// Returns whether [`run`] is a barrier for all threads of the process, rather than for the
    /// caller only.
    pub(super) fn is_for_all_threads() -> bool {
        static IS_REGISTERED: OnceLock<bool> = OnceLock::new();
        *IS_REGISTERED.get_or_init(|| membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok())
    }

    /// Runs the barrier. Returns `None` if it has failed.
    pub(super) fn run() -> Option<()> {
        fence(Ordering::SeqCst);
        if is_for_all_threads() { membarrier(MembarrierCommand::PrivateExpedited).ok() } else { Some(()) }
    }
}

/// Loom has no barrier for other threads.
#[cfg(loom)]
mod barrier {
    use super::{Ordering, fence};

    pub(super) fn is_for_all_threads() -> bool {
        false
    }

    pub(super) fn run() -> Option<()> {
        fence(Ordering::SeqCst);
        Some(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::*;

    /// The owner keeps two numbers equal whenever it is outside, and guests find them equal, both
    /// with the kernel's barrier and with the owner's own.
    #[test]
    fn a_guest_finds_the_owner_outside() {
        let kinds = [OwnerLock::default(), OwnerLock { word: AtomicU32::new(FENCED), ..Default::default() }];
        for lock in &kinds {
            // Relaxed throughout: the lock orders them.
            let [one, two, is_over] = [const { AtomicU64::new(0) }; 3];
            thread::scope(|scope| {
                scope.spawn(|| {
                    while is_over.load(Ordering::Relaxed) == 0 {
                        lock.with(|| {
                            one.store(one.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                            two.store(two.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        });
                    }
                });
                let differs = (0..10_000).any(|_| {
                    let _held = hold_all([lock].into_iter()).unwrap();
                    one.load(Ordering::Relaxed) != two.load(Ordering::Relaxed)
                });
                is_over.store(1, Ordering::Relaxed);
                assert!(!differs, "the owner was inside");
            });
        }
    }
}
