//! The blocks that all workers of the process share: full packs, and slabs to cut more from. Knows
//! no worker.
//!
//! There is one reserve, since blocks outlive engines: the owner of a handle keeps the block.
//!
//! # Safety
//!
//! Trusted with returning to the slabs what was cut from them.
#![expect(unsafe_code, reason = "blocks go back to their slabs")]

use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::Bound;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::super::sync::ignore_poison;
use super::SIZES;
use super::address::Address;
use super::pack::Pack;
use super::slab::Slabs;

/// How many full packs of all sizes together are kept when the workers are idle.
pub(super) const PACKS_AT_REST: usize = 8;

/// The reserve.
pub(super) struct Reserve {
    stock: Mutex<Stock>,
    /// How many packs there are, to be read without the lock.
    count: AtomicUsize,
}

struct Stock {
    packs: [Vec<Pack>; SIZES],
    slabs: Slabs,
    /// Blocks from the allocator that are in use.
    others: BTreeSet<Address>,
}

/// The position of a walk through all blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// Behind the slab at this address.
    Slabs(usize),
    /// Behind the block at this address, among those from the allocator.
    Others(usize),
}

impl Walk {
    /// The beginning.
    pub(crate) const START: Self = Self::Slabs(1);
}

/// How many blocks from the allocator one step of a walk visits.
const SOME: usize = 512;

pub(super) static RESERVE: Reserve = Reserve::new();

impl Reserve {
    pub(super) const fn new() -> Self {
        let stock =
            Stock { packs: [const { Vec::new() }; SIZES], slabs: Slabs::new(), others: BTreeSet::new() };
        Self { stock: Mutex::new(stock), count: AtomicUsize::new(0) }
    }

    /// Takes some blocks of a size. Returns `None` if there is no memory.
    pub(super) fn take(&self, size: usize) -> Option<Pack> {
        let mut stock = self.lock();
        if let Some(pack) = stock.packs[size].pop() {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Some(pack);
        }
        stock.slabs.take(size)
    }

    /// Keeps a pack of this size for other workers.
    pub(super) fn put(&self, size: usize, pack: Pack) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.lock().packs[size].push(pack);
    }

    /// Returns blocks to their slabs.
    pub(super) fn give_back(&self, pack: Pack) {
        // SAFETY: the invariant of packs. All of the blocks were cut from slabs.
        unsafe { self.lock().slabs.give_back(pack) };
    }

    /// Returns a pack to its slabs if there are more than needed, so that whole slabs can be freed.
    /// Returns whether there was one.
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

    /// Records a block from the allocator.
    pub(super) fn enter(&self, block: NonNull<u8>) {
        self.lock().others.insert(Address(block));
    }

    /// Forgets a block from the allocator, which is about to be freed.
    pub(super) fn leave(&self, block: NonNull<u8>) {
        self.lock().others.remove(&Address(block));
    }

    /// Calls `look` with some blocks, whether they are in use or not. Meanwhile no block is freed,
    /// or handed out for the first time. Returns where to continue.
    pub(super) fn walk(&self, from: Walk, mut look: impl FnMut(NonNull<u8>)) -> Option<Walk> {
        let stock = self.lock();
        let address = match from {
            Walk::Slabs(address) => match stock.slabs.look_behind(address, &mut look) {
                Some(slab) => return Some(Walk::Slabs(slab)),
                None => 1,
            },
            Walk::Others(address) => address,
        };
        let start = Address(NonNull::dangling().with_addr(NonZero::new(address)?));
        let behind = stock.others.range((Bound::Excluded(start), Bound::Unbounded));
        let last = behind.take(SOME).inspect(|block| look(block.0)).last()?;
        Some(Walk::Others(last.0.addr().get()))
    }

    /// Calls `body` while no thread walks.
    pub(super) fn between_walks<R>(&self, body: impl FnOnce() -> R) -> R {
        let _stock = self.lock();
        body()
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Stock> {
        ignore_poison(self.stock.lock())
    }
}
