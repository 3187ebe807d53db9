//! The blocks that all workers of the process share: full packs, and slabs to cut more from. Knows no worker.
//!
//! There is one, since blocks outlive engines: whoever has a handle has the block.
//!
//! # Safety
//!
//! Trusted with giving back to the slabs what was cut from them.
#![expect(unsafe_code, reason = "blocks go back to their slabs")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::super::sync::ignore_poison;
use super::SIZES;
use super::pack::Pack;
use super::slab::Slabs;

/// So many full packs of all sizes together are kept when there is nothing to do.
pub(super) const PACKS_AT_REST: usize = 8;

/// What all share.
pub(super) struct Reserve {
    stock: Mutex<Stock>,
    /// How many packs there are, for a look without the lock.
    count: AtomicUsize,
}

struct Stock {
    packs: [Vec<Pack>; SIZES],
    slabs: Slabs,
}

pub(super) static RESERVE: Reserve = Reserve::new();

impl Reserve {
    pub(super) const fn new() -> Self {
        let stock = Stock { packs: [const { Vec::new() }; SIZES], slabs: Slabs::new() };
        Self { stock: Mutex::new(stock), count: AtomicUsize::new(0) }
    }

    /// Some blocks of a size; none, if there is no memory.
    pub(super) fn take(&self, size: usize) -> Option<Pack> {
        let mut stock = self.lock();
        if let Some(pack) = stock.packs[size].pop() {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Some(pack);
        }
        stock.slabs.take(size)
    }

    /// Keeps a pack of this size for whoever needs one.
    pub(super) fn put(&self, size: usize, pack: Pack) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.lock().packs[size].push(pack);
    }

    /// Takes blocks back from somebody who has no more use for any.
    pub(super) fn give_back(&self, pack: Pack) {
        // SAFETY: the invariant of packs, and all of them were cut from slabs.
        unsafe { self.lock().slabs.give_back(pack) };
    }

    /// Breaks a pack up if there are more than need be, so that whole slabs can go. Whether there was one.
    pub(super) fn trim(&self) -> bool {
        if self.count() <= PACKS_AT_REST {
            return false;
        }
        let mut stock = self.lock();
        let most = (0..SIZES).max_by_key(|&size| stock.packs[size].len() * (size + 1));
        let Some(pack) = most.and_then(|size| stock.packs[size].pop()) else { return false };
        self.count.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { stock.slabs.give_back(pack) };
        true
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Stock> {
        ignore_poison(self.stock.lock())
    }
}
