//! The limits of a pool: how many stacks may exist, how many are kept, and how little stack is
//! needed to take one.
//!
//! # Safety
//!
//! Limits and locks the memory of processes of its own.
#![expect(unsafe_code, reason = "limits are set and memory is locked")]

use sinew_coroutine::{
    Coroutine, GuardKind, LARGEST_CLASS, MIN_STACK_SIZE, MmapStack, SMALLEST_CLASS, StackPool,
};

use crate::pool::{SIZE, acquire};
use crate::support::{in_child, is_emulated, stderr};

#[test]
fn unused_stacks_make_room_at_the_limit() {
    let pool = StackPool::builder().max_stacks(8).build();
    drop(acquire(&pool, 8));
    let other = pool.acquire(SMALLEST_CLASS).expect("no stack is in use");
    assert_eq!((pool.stats().live, pool.stats().pooled), (1, 0));
    drop(other);
}

#[test]
fn one_stack_too_many_does_not_cost_all_the_others() {
    for keep in [0..=100, 50..=100, 99..=100, 100..=100] {
        let pool = StackPool::builder().keep(keep.clone()).build();
        let mut stacks = acquire(&pool, 102);
        stacks.truncate(2);
        assert_eq!(pool.stats().pooled, 100, "{keep:?}");
        stacks.truncate(1);
        // Half of the stacks that need not be kept are trimmed, so that the next one does not trim
        // again.
        assert_eq!(pool.stats().pooled, 100 - (100 - keep.start()) / 2, "{keep:?}");
    }
}

#[test]
fn stacks_prewarmed_before_an_error_are_in_memory() {
    if is_emulated() {
        return eprintln!("skipped: the emulator does not tell which pages are in memory");
    }
    let pool = StackPool::builder().max_stacks(5).build();
    assert!(pool.prewarm(SIZE, 10).is_err());
    assert_eq!((pool.stats().pooled, pool.resident()), (5, 5 * 4096));
}

/// Not for sanitizers, which make frames larger.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn the_smallest_stack_is_enough_to_take_and_return_stacks() {
    let name = "pool_limits::the_smallest_stack_is_enough_to_take_and_return_stacks";
    let output = in_child(name, || {
        let pool = StackPool::builder().keep(0..=0).build();
        let kept = pool.acquire(SIZE).expect("a stack");
        let stack = MmapStack::new(MIN_STACK_SIZE).expect("a stack");
        Coroutine::<(), (), (), _>::new(stack, move |_, ()| {
            // One from an existing slab, which is trimmed when it is returned, and one that takes a
            // new slab.
            drop(pool.acquire(SIZE).expect("a stack"));
            drop(pool.acquire(SMALLEST_CLASS).expect("a stack"));
        })
        .resume(());
        drop(kept);
    });
    assert!(output.status.success(), "{:?} {}", output.status, stderr(&output));
}

/// Not for sanitizers, which never lock memory.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn locked_memory_is_given_back_too() {
    use crate::pool::{read_first, write_first};
    if is_emulated() {
        return eprintln!("skipped: the emulator takes no advice about locked memory");
    }
    let output = in_child("pool_limits::locked_memory_is_given_back_too", || {
        // SAFETY: no precondition. Memory is locked as it is touched, so that a slab is not filled
        // at once.
        let locked = unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) };
        if locked != 0 {
            return eprintln!("skipped: this process may not lock memory");
        }
        let pool = StackPool::new();
        // Its neighbor keeps the slab.
        let (stack, _neighbour) = (pool.acquire(SIZE).expect("a stack"), pool.acquire(SIZE));
        write_first(&stack, 7);
        drop(stack);
        assert_eq!(pool.trim(), 1);
        assert_eq!(read_first(&pool.acquire(SIZE).expect("the same stack")), 0);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Not for sanitizers, which need address space themselves.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_moment_without_memory_does_not_settle_the_kind_of_guard() {
    let name = "pool_limits::a_moment_without_memory_does_not_settle_the_kind_of_guard";
    let output = in_child(name, || {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads a limit.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut before) }, 0);
        let none = libc::rlimit { rlim_cur: 0, ..before };
        // SAFETY: no precondition.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const none) }, 0);
        let poor = GuardKind::best();
        // SAFETY: no precondition.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const before) }, 0);
        eprintln!("{poor:?}, then {:?};", GuardKind::best());
    });
    let words = stderr(&output);
    assert!(words.contains(&format!("Protection, then {:?};", GuardKind::best())), "{words}");
}

/// Limits the address space of this process to its present size plus this number of bytes. Returns
/// the old limit.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
fn leave_address_space(bytes: u64) -> libc::rlimit {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("what the process has");
    let pages: u64 = statm.split(' ').next().expect("a number").parse().expect("a number");
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads a limit of this process.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut before) }, 0);
    set_limit(&libc::rlimit { rlim_cur: pages * 4096 + bytes, ..before });
    before
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
fn set_limit(limit: &libc::rlimit) {
    // SAFETY: changes a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, limit) }, 0);
}

/// A stack that could not be made does not count against the limit.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_stack_that_the_system_refuses_does_not_count() {
    if is_emulated() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    let output = in_child("pool_limits::a_stack_that_the_system_refuses_does_not_count", || {
        const MOST: usize = 4;
        let pool = StackPool::builder().max_stacks(MOST).build();
        let before = leave_address_space(0);
        let refused = (0..2 * MOST).filter(|_| pool.acquire(LARGEST_CLASS).is_err()).count();
        set_limit(&before);
        assert_eq!(refused, 2 * MOST);
        assert_eq!(acquire(&pool, MOST).len(), MOST);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// If stacks took the last of the address space, nothing would be left to the allocator, and the
/// next allocation would end the process. Not for sanitizers, which need address space themselves.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn stacks_leave_address_space_to_others() {
    if is_emulated() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    let output = in_child("pool_limits::stacks_leave_address_space_to_others", || {
        let (pool, mut stacks) = (StackPool::new(), Vec::with_capacity(1 << 16));
        leave_address_space(512 << 20);
        while let Ok(stack) = pool.acquire(SIZE) {
            stacks.push(stack);
        }
        assert!(stacks.len() > 1000, "{} stacks in 512 MiB", stacks.len());
        // Checked with a mapping, since the allocator may have memory in reserve.
        assert!(MmapStack::new(32 << 20).is_ok(), "nothing is left after {} stacks", stacks.len());
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// If less address space is left than the pool leaves to others, there is still one stack of each
/// size: without any, no coroutine could run.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn the_first_stack_of_a_size_may_take_what_is_left_to_others() {
    if is_emulated() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    let output = in_child("pool_limits::the_first_stack_of_a_size_may_take_what_is_left_to_others", || {
        let pool = StackPool::new();
        leave_address_space(8 << 20);
        for size in [SMALLEST_CLASS, SIZE] {
            let first = pool.acquire(size).expect("the first one");
            assert!(pool.acquire(size).is_err());
            drop(first);
            assert!(pool.acquire(size).is_ok(), "it is back");
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
