//! Models of an owner that changes what its lock protects, and guests that read it.
//!
//! # Safety
//!
//! Trusted with a cell that the checker watches: it panics before a guest reads what the owner
//! writes.
#![expect(unsafe_code, reason = "what the lock protects is in a cell that the checker watches")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::rt::base::owner_lock::{OwnerLock, hold_all};
use crate::rt::model::check;

#[derive(Default)]
struct Protected {
    lock: OwnerLock,
    value: UnsafeCell<u32>,
}

// SAFETY: the checker watches the cell.
unsafe impl Sync for Protected {}

impl Protected {
    fn change(&self) {
        // SAFETY: no guest holds the lock. The checker detects if one does.
        self.lock.with(|| self.value.with_mut(|value| unsafe { *value += 1 }));
    }

    fn read(&self) -> u32 {
        let held = hold_all([&self.lock].into_iter()).expect("a barrier of its own");
        // SAFETY: the owner is outside. The checker detects if it is not.
        let value = self.value.with(|value| unsafe { *value });
        drop(held);
        value
    }
}

#[test]
fn a_guest_never_reads_what_the_owner_writes() {
    check(3, || {
        let protected = Arc::new(Protected::default());
        let other = protected.clone();
        let owner = thread::spawn(move || (0..2).for_each(|_| other.change()));
        assert!(protected.read() <= 2);
        owner.join().unwrap();
        assert_eq!(protected.read(), 2);
    });
}

#[test]
fn guests_take_turns() {
    check(2, || {
        let protected = Arc::new(Protected::default());
        let guests = [protected.clone(), protected.clone()].map(|other| thread::spawn(move || other.read()));
        protected.change();
        assert!(guests.into_iter().all(|guest| guest.join().unwrap() <= 1));
    });
}
