//! The pool of a process that has as many mappings as the kernel allows.
//!
//! # Safety
//!
//! Uses up the mappings of processes of its own.
#![expect(unsafe_code, reason = "mappings are made and used up")]
// Not for sanitizers, which need mappings themselves.
#![cfg(not(any(sinew_asan, sinew_tsan)))]

use std::ptr::{self, NonNull};

use sinew_coroutine::{GuardKind, LARGEST_CLASS, MmapStack, SMALLEST_CLASS, Stack, StackPool};

use crate::support::{in_child, stderr};

const PAGE: usize = 4096;
const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const PRIVATE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
/// More than the usual limit of 65,530 mappings.
const STRIPES: usize = 100_000;

/// Holds all mappings that were left, until it is dropped.
struct UsedUp(*mut u8);

impl UsedUp {
    /// Takes all mappings but about `left`. Returns `None` if there are too many to take.
    fn new(left: usize) -> Option<Self> {
        let flags = PRIVATE | libc::MAP_NORESERVE;
        // SAFETY: a new mapping.
        let start = unsafe { libc::mmap(ptr::null_mut(), STRIPES * 2 * PAGE, READ_WRITE, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let all = Self(start.cast());
        let stripe = (0..STRIPES).find(|&stripe| !all.protect(stripe * 2 + 1, 1, libc::PROT_NONE))?;
        // The last mappings may merge with existing ones.
        let mut access = [READ_WRITE, libc::PROT_READ].into_iter().cycle();
        let more = (0..STRIPES).find(|_| {
            let access = access.next().expect("it is endless");
            // SAFETY: a new mapping.
            let new = unsafe { libc::mmap(ptr::null_mut(), PAGE, access, PRIVATE, -1, 0) };
            new == libc::MAP_FAILED
        });
        assert!(more.is_some() && stripe > left);
        assert!(left == 0 || all.protect(0, left | 1, READ_WRITE));
        Some(all)
    }

    fn protect(&self, page: usize, pages: usize, access: libc::c_int) -> bool {
        // SAFETY: the pages are ours, and no code uses them.
        unsafe { libc::mprotect(self.0.wrapping_add(page * PAGE).cast(), pages * PAGE, access) == 0 }
    }
}

impl Drop for UsedUp {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and no code uses them.
        unsafe { libc::munmap(self.0.cast(), STRIPES * 2 * PAGE) };
    }
}

/// Runs the rest of a test with only about `left` mappings available.
fn with_few_mappings(left: usize, body: impl FnOnce()) {
    let Some(_all) = UsedUp::new(left) else {
        eprintln!("skipped: this system has no limit on mappings that a test could reach");
        std::process::exit(0);
    };
    body();
}

fn is_mapped(address: NonNull<u8>) -> bool {
    let page = address.addr().get() & !(PAGE - 1);
    // SAFETY: the kernel writes a byte, or returns an error if nothing is mapped there.
    unsafe { libc::mincore(ptr::without_provenance_mut(page), PAGE, [0_u8].as_mut_ptr()) == 0 }
}

fn last_byte(stack: &impl Stack) -> NonNull<u8> {
    NonNull::new(stack.top().as_ptr().wrapping_sub(1)).expect("an address")
}

/// The kernel may have merged neighboring slabs into one mapping. Unmapping the middle one then
/// splits it in two.
#[test]
fn a_slab_that_cannot_be_unmapped_loses_its_memory_and_is_tried_again() {
    let name = "mappings::a_slab_that_cannot_be_unmapped_loses_its_memory_and_is_tried_again";
    let output = in_child(name, || {
        // One stack per slab.
        let pool = StackPool::new();
        let mut stacks: Vec<_> = (0..6).map(|_| pool.acquire(LARGEST_CLASS).expect("a stack")).collect();
        let middle = stacks.remove(2);
        let byte = last_byte(&middle);
        // SAFETY: this is a byte of a stack that nothing runs on.
        unsafe { byte.write(1) };
        with_few_mappings(0, || {
            drop(middle);
            assert_eq!(pool.trim(), 1);
            let stats = pool.stats();
            assert_eq!((stats.live, stats.pooled, pool.resident()), (5, 0, 0), "{stats:?}");
            assert_eq!(stats.slabs == 6, is_mapped(byte), "{stats:?}");
            if stats.slabs == 6 {
                let again =
                    pool.acquire(LARGEST_CLASS).expect("the slab that was not unmapped is used again");
                assert_eq!((last_byte(&again), high_byte(&again)), (byte, 0));
            }
            pool.trim();
            pool.trim();
            assert_eq!(pool.stats().slabs, stats.slabs, "the system refuses to unmap it again");
        });
        pool.trim();
        assert_eq!(pool.stats().slabs, 5);
        assert!(!is_mapped(byte));
        drop(stacks);
        pool.trim();
        assert_eq!(pool.stats().reserved, 0);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

fn high_byte(stack: &impl Stack) -> u8 {
    // SAFETY: this is a byte of a stack that nothing runs on.
    unsafe { last_byte(stack).read() }
}

#[test]
fn memory_that_a_pool_cannot_unmap_when_it_ends_is_unmapped_later() {
    let name = "mappings::memory_that_a_pool_cannot_unmap_when_it_ends_is_unmapped_later";
    let output = in_child(name, || {
        let pools: [_; 6] = std::array::from_fn(|_| StackPool::new());
        let stacks = pools.each_ref().map(|pool| pool.acquire(LARGEST_CLASS).expect("a stack"));
        let bytes = stacks.each_ref().map(last_byte);
        let spare = MmapStack::new(64 * 1024).expect("a stack");
        let mut pools: Vec<_> = pools.into_iter().zip(stacks).collect();
        with_few_mappings(0, || drop(pools.remove(2)));
        drop(spare);
        assert!(!is_mapped(bytes[2]));
        drop(pools);
        assert!(bytes.iter().all(|&byte| !is_mapped(byte)));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn guarded_stacks_are_found_when_no_guard_can_be_made() {
    let output = in_child("mappings::guarded_stacks_are_found_when_no_guard_can_be_made", || {
        let pool = StackPool::builder().guard_kind(GuardKind::Protection).build();
        let acquire = |count| -> Vec<_> {
            (0..count).map(|_| pool.acquire(SMALLEST_CLASS).expect("a stack")).collect()
        };
        // A slab of 16 stacks that is unmapped, so that the next slab gets its number, and a slab
        // of 32 that stays.
        let first = acquire(16);
        let mut second = acquire(32);
        drop(first);
        assert_eq!(pool.trim(), 16);
        with_few_mappings(10, || {
            let mut more = Vec::new();
            while let Ok(stack) = pool.acquire(SMALLEST_CLASS) {
                more.push(stack);
            }
            assert!(!more.is_empty(), "a slab with some guards");
            second.truncate(12);
            assert_eq!(pool.trim(), 20);
            for found in 0..20 {
                let stack = pool.acquire(SMALLEST_CLASS);
                more.push(stack.unwrap_or_else(|error| panic!("after {found}: {error}")));
            }
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_plain_stack_without_a_mapping_is_refused_with_advice() {
    let output = in_child("mappings::a_plain_stack_without_a_mapping_is_refused_with_advice", || {
        with_few_mappings(0, || {
            let error = MmapStack::new(64 * 1024).expect_err("no mapping is left").to_string();
            assert!(error.contains("vm.max_map_count"), "{error}");
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_slab_without_any_guard_is_given_back() {
    let output = in_child("mappings::a_slab_without_any_guard_is_given_back", || {
        let pool = StackPool::builder().guard_kind(GuardKind::Protection).build();
        with_few_mappings(3, || {
            let sizes = [SMALLEST_CLASS, 1 << 20, LARGEST_CLASS];
            let refused = sizes.iter().filter(|&&size| pool.acquire(size).is_err()).count();
            assert!(refused > 0);
        });
        pool.trim();
        assert_eq!(pool.stats(), StackPool::new().stats());
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
