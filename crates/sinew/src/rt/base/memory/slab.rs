//! Slabs: large pieces of memory, cut into blocks of one size. The allocator is asked for few large
//! pieces, since for many small ones it asks the kernel for one page at a time. Knows no worker and
//! no lock.
//!
//! # Safety
//!
//! Trusted with finding the slab of a block by its address, and with freeing a slab when all its
//! blocks have returned.
#![expect(unsafe_code, reason = "blocks are cut from raw memory")]

use std::alloc::{self, Layout};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::Bound;
use std::ptr::NonNull;

use super::address::Address;
use super::pack::{Free, PACK, Pack};
use super::{SIZES, bytes_of};

/// The size of a slab, and its alignment.
const SLAB: usize = 256 * 1024;
const LAYOUT: Layout = match Layout::from_size_align(SLAB, SLAB) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};
/// The size of its header: a multiple of the alignment of blocks.
const HEAD: usize = 128;

/// The header at the beginning of a slab.
struct Head {
    size: usize,
    /// Blocks that were returned.
    back: Pack,
    /// How many blocks, from the first, were handed out at least once.
    fresh: usize,
    /// Its index among the slabs with blocks to hand out.
    place: Option<usize>,
}

const _: () = assert!(size_of::<Head>() <= HEAD);

/// A slab.
///
/// # Invariant
///
/// From [`LAYOUT`], begins with a [`Head`], and is touched only with exclusive access to its
/// [`Slabs`].
#[derive(Clone, Copy, Debug)]
struct Slab(NonNull<Head>);

/// All slabs.
#[derive(Debug)]
pub(super) struct Slabs {
    /// The address of each slab.
    all: BTreeSet<Address>,
    /// The slabs with blocks to hand out.
    roomy: [Vec<Slab>; SIZES],
}

// SAFETY: memory is not bound to a thread.
unsafe impl Send for Slabs {}

impl Slab {
    fn map(size: usize) -> Option<Self> {
        // SAFETY: the layout has a size.
        let head = NonNull::new(unsafe { alloc::alloc(LAYOUT) })?.cast::<Head>();
        // SAFETY: the memory has room for it.
        unsafe { head.write(Head { size, back: Pack::EMPTY, fresh: 0, place: None }) };
        Some(Self(head))
    }

    /// Returns the slab of a block.
    fn of(block: NonNull<Free>) -> Self {
        let head = block.as_ptr().map_addr(|address| address & !(SLAB - 1));
        // SAFETY: a slab is not at address zero, nor is anything in it.
        Self(unsafe { NonNull::new_unchecked(head.cast()) })
    }

    #[expect(clippy::mut_from_ref, reason = "the pointer is the slab, and a lock is held")]
    fn head(&self) -> &mut Head {
        // SAFETY: the invariant, and each caller has stopped using the previous reference.
        unsafe { &mut *self.0.as_ptr() }
    }

    fn address(self) -> Address {
        Address(self.0.cast())
    }

    fn total(size: usize) -> usize {
        (SLAB - HEAD) / bytes_of(size)
    }

    /// Moves up to one pack of blocks out.
    fn take(self) -> Pack {
        let head = self.head();
        let mut pack = Pack::EMPTY;
        while pack.count < PACK {
            let block = match head.back.pop() {
                Some(block) => block,
                None if head.fresh < Self::total(head.size) => {
                    let offset = HEAD + head.fresh * bytes_of(head.size);
                    head.fresh += 1;
                    // SAFETY: within the slab, as the number is below the total.
                    let block = unsafe { self.0.cast::<u8>().add(offset) };
                    // SAFETY: as above. The block is not in use yet.
                    unsafe { block.write_bytes(0, bytes_of(head.size)) };
                    block.cast()
                }
                None => break,
            };
            // SAFETY: no other code has the block, and it has the slab's size.
            unsafe { pack.push(block) };
        }
        pack
    }

    fn has_room(self) -> bool {
        let head = self.head();
        head.back.count > 0 || head.fresh < Self::total(head.size)
    }

    /// Returns whether all its blocks have returned.
    fn is_whole(self) -> bool {
        let head = self.head();
        head.back.count as usize == head.fresh
    }
}

impl Slabs {
    pub(super) const fn new() -> Self {
        Self { all: BTreeSet::new(), roomy: [const { Vec::new() }; SIZES] }
    }

    /// Calls `look` with each block of the first slab behind an address that was handed out at
    /// least once, whether it is in use or not. Returns the address of that slab.
    pub(super) fn look_behind(&self, address: usize, mut look: impl FnMut(NonNull<u8>)) -> Option<usize> {
        let behind = Address(NonNull::dangling().with_addr(NonZero::new(address)?));
        let start = self.all.range((Bound::Excluded(behind), Bound::Unbounded)).next()?.0;
        let slab = Slab(start.cast());
        let head = slab.head();
        for number in 0..head.fresh {
            // SAFETY: within the slab, as the number is below the total.
            look(unsafe { start.add(HEAD + number * bytes_of(head.size)) });
        }
        Some(start.addr().get())
    }

    /// Takes some blocks of a size. Returns `None` if there is no memory.
    pub(super) fn take(&mut self, size: usize) -> Option<Pack> {
        let slab = match self.roomy[size].last() {
            Some(slab) => *slab,
            None => {
                let slab = Slab::map(size)?;
                self.all.insert(slab.address());
                self.add(slab);
                slab
            }
        };
        let pack = slab.take();
        if !slab.has_room() {
            self.remove(slab);
        }
        Some(pack)
    }

    /// Takes blocks back. Frees slabs to which all blocks have returned, except for one of each
    /// size.
    ///
    /// # Safety
    ///
    /// The blocks are from [`take`](Self::take), and are not used any more.
    pub(super) unsafe fn give_back(&mut self, mut pack: Pack) {
        while let Some(block) = pack.pop() {
            let slab = Slab::of(block);
            // SAFETY: the caller's promise. The block has the slab's size.
            unsafe { slab.head().back.push(block) };
            if slab.head().place.is_none() {
                self.add(slab);
            }
            if slab.is_whole() && self.roomy[slab.head().size].len() > 1 {
                self.remove(slab);
                self.all.remove(&slab.address());
                // SAFETY: the slab is from `map`, and none of its blocks is in use.
                unsafe { alloc::dealloc(slab.0.as_ptr().cast(), LAYOUT) };
            }
        }
    }

    fn add(&mut self, slab: Slab) {
        let roomy = &mut self.roomy[slab.head().size];
        slab.head().place = Some(roomy.len());
        roomy.push(slab);
    }

    fn remove(&mut self, slab: Slab) {
        let Some(place) = slab.head().place.take() else { return };
        let roomy = &mut self.roomy[slab.head().size];
        roomy.swap_remove(place);
        if let Some(moved) = roomy.get(place) {
            moved.head().place = Some(place);
        }
    }

    /// Returns the number of slabs.
    #[cfg(all(test, not(any(loom, sinew_asan))))]
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns how many slabs have blocks to hand out.
    #[cfg(all(test, not(any(loom, sinew_asan))))]
    pub(super) fn roomy(&self) -> usize {
        self.roomy.iter().map(Vec::len).sum()
    }
}
