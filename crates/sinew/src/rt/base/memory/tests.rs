//! Tests of the memory alone: each test has a reserve of its own.
//!
//! # Safety
//!
//! Trusted with the blocks that it takes.
#![expect(unsafe_code, reason = "memory is handed around")]

use super::reserve::PACKS_AT_REST;
use super::slab::Slabs;
use super::*;

type Block = [u64; 20];

fn reserve() -> &'static Reserve {
    Box::leak(Box::new(Reserve::new()))
}

/// Takes this number of blocks, each written from end to end.
fn take_many(memory: &Memory, count: usize) -> Vec<NonNull<Block>> {
    let fill = |number| {
        let (block, origin) = take::<Block>(Some(memory));
        assert!(origin == Origin::Kept && block.addr().get().is_multiple_of(STEP));
        // SAFETY: the test owns the block.
        unsafe { block.write([number as u64; 20]) };
        block
    };
    (0..count).map(fill).collect()
}

fn give_all_back(memory: &Memory, blocks: Vec<NonNull<Block>>) {
    for (number, block) in blocks.into_iter().enumerate() {
        // SAFETY: the test owns the block, and has written it.
        assert_eq!(unsafe { block.read() }, [number as u64; 20], "no other code has written to it");
        // SAFETY: it was taken for the same type.
        unsafe { give_back(Some(memory), block, Origin::Kept) };
    }
}

#[test]
fn blocks_are_used_again_wherever_they_were_freed() {
    let reserve = reserve();
    let (one, two) = (Memory::of(reserve), Memory::of(reserve));
    let blocks = take_many(&one, 5_000);
    let mut first = blocks.clone();
    give_all_back(&two, blocks);
    let kept = reserve.count() * PACK as usize;
    assert!(kept > 4_000, "the reserve has most of them: {kept}");
    let again = take_many(&one, kept);
    first.sort_unstable();
    let known = again.iter().filter(|block| first.binary_search(block).is_ok()).count();
    assert!(known > kept - 2 * PACK as usize, "they return to the worker that takes them: {known} of {kept}");
    give_all_back(&one, again);
}

#[test]
fn packs_beyond_the_limit_are_freed_when_idle() {
    let reserve = reserve();
    let memory = Memory::of(reserve);
    let blocks = take_many(&memory, 10_000);
    give_all_back(&memory, blocks);
    let packs = reserve.count();
    assert_eq!(std::iter::from_fn(|| memory.trim().then_some(())).count(), packs - PACKS_AT_REST);
    assert_eq!(reserve.count(), PACKS_AT_REST);
}

#[test]
fn threads_that_keep_no_memory_share_one() {
    let blocks = [(); 300].map(|()| {
        let (block, origin) = take::<Block>(None);
        assert_eq!(origin, Origin::Kept);
        // SAFETY: the test owns the block.
        unsafe { block.write([7; 20]) };
        block
    });
    for block in blocks {
        // SAFETY: it was taken for the same type, and is not used any more.
        unsafe { give_back(None, block, Origin::Kept) };
    }
}

/// Returns the addresses of all blocks that a walk finds.
fn walk_all(reserve: &Reserve) -> Vec<usize> {
    let (mut found, mut next) = (Vec::new(), Some(Walk::START));
    while let Some(walk) = next {
        next = reserve.walk(walk, |block| found.push(block.addr().get()));
    }
    found
}

#[test]
fn a_walk_finds_each_block_once() {
    let reserve = reserve();
    assert_eq!(walk_all(reserve), [0; 0]);
    let memory = Memory::of(reserve);
    let blocks = take_many(&memory, 5_000);
    let others = [[0_u8; 64]; 1_500].map(Box::new);
    for other in &others {
        reserve.enter(NonNull::from(&**other).cast());
    }
    let mut found = walk_all(reserve);
    found.sort_unstable();
    assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "each of them once");
    let is_found = |address| found.binary_search(&address).is_ok();
    assert!(blocks.iter().all(|block| is_found(block.addr().get())));
    assert!(others.iter().all(|other| is_found((&raw const **other).addr())));
    // The walk also finds the blocks of a pack that is in use. They were zeroed.
    assert!(found.len() < blocks.len() + others.len() + PACK as usize);
    for other in &others {
        reserve.leave(NonNull::from(&**other).cast());
    }
    give_all_back(&memory, blocks);
    assert!(
        walk_all(reserve)
            .iter()
            .all(|&address| others.iter().all(|other| (&raw const **other).addr() != address))
    );
}

#[test]
fn a_slab_goes_when_all_its_blocks_are_back() {
    let mut slabs = Slabs::new();
    let packs: Vec<_> = (0..100).map(|_| slabs.take(3).expect("memory")).collect();
    let blocks: u32 = packs.iter().map(|pack| pack.count).sum();
    assert!(blocks > 12_000 && slabs.roomy() <= 1, "{blocks} blocks of some 1,000 a slab");
    assert_eq!(slabs.count(), 13, "each slab is used up before the next one");
    // Returned in another order than they were taken in.
    let (odd, even): (Vec<_>, Vec<_>) =
        packs.into_iter().enumerate().partition(|(number, _)| number % 2 == 1);
    for (_, pack) in odd.into_iter().chain(even) {
        // SAFETY: it was taken there, and is not used any more.
        unsafe { slabs.give_back(pack) };
    }
    assert_eq!(slabs.roomy(), 1, "one is kept");
}

#[test]
fn large_and_aligned_values_are_the_allocators_own() {
    #[repr(align(256))]
    struct Aligned(u8);
    let memory = Memory::of(reserve());
    let (block, origin) = take::<Aligned>(Some(&memory));
    // SAFETY: the test owns the block.
    unsafe { block.write(Aligned(1)) };
    // SAFETY: it was written.
    assert_eq!(unsafe { block.as_ref() }.0, 1);
    assert!(origin == Origin::Allocator && block.addr().get().is_multiple_of(256));
    // SAFETY: it was taken for the same type.
    unsafe { give_back(Some(&memory), block, origin) };
    let (block, origin) = take::<[u64; 1_000]>(Some(&memory));
    // SAFETY: as above.
    unsafe { give_back(Some(&memory), block, origin) };
    assert!(memory.sizes.iter().all(|packs| packs.open.get().count == 0));
}
