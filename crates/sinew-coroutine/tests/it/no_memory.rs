//! Stacks in a process that runs out of memory: taking a stack returns an error, and returning one
//! works.
//!
//! # Safety
//!
//! Limits processes of its own.
#![expect(unsafe_code, reason = "limits are set")]

use sinew_coroutine::{MmapStack, PooledStack, SMALLEST_CLASS, StackError, StackPool};

use crate::pool::SIZE;
use crate::support::{granted, in_child, stderr};

/// More stacks than the lists of a pool have room for by chance.
const MANY: usize = 3000;

fn acquire(pool: &StackPool, size: usize) -> Vec<PooledStack> {
    (0..MANY).map(|_| pool.acquire(size).expect("a stack")).collect()
}

#[test]
fn returning_and_trimming_take_no_memory() {
    let output = in_child("no_memory::returning_and_trimming_take_no_memory", || {
        for keep in [0..=0, 0..=MANY / 2, 0..=2 * MANY] {
            let pool = StackPool::builder().keep(keep).build();
            let (mut small, mut large) = (acquire(&pool, SMALLEST_CLASS), acquire(&pool, SIZE));
            // Returns every other one, so that most slabs keep some stacks and lose the others.
            let mut number = 0;
            let mut every_other = |_: &mut PooledStack| {
                number += 1;
                number % 2 == 0
            };
            granted(0, || {
                small.extract_if(.., &mut every_other).for_each(drop);
                large.extract_if(.., &mut every_other).for_each(drop);
                pool.trim();
                small.clear();
                large.clear();
                pool.trim();
            });
            let stats = pool.stats();
            assert_eq!((stats.live, stats.pooled, stats.reserved), (0, 0, 0), "{stats:?}");
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Lists grow by more than they need, which hides a lack of room for most numbers of stacks.
#[test]
fn any_number_of_stacks_is_returned_without_memory() {
    let output = in_child("no_memory::any_number_of_stacks_is_returned_without_memory", || {
        for count in 1..=64 {
            let pool = StackPool::new();
            let stacks: Vec<_> = (0..count).map(|_| pool.acquire(SIZE).expect("a stack")).collect();
            granted(0, || drop(stacks));
            assert_eq!(pool.stats().pooled, count);
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_cache_works_without_memory() {
    let output = in_child("no_memory::a_cache_works_without_memory", || {
        let pool = StackPool::new();
        let mut stacks = acquire(&pool, SIZE);
        let mut cache = pool.cache();
        granted(0, || {
            stacks.drain(..MANY / 2).for_each(|stack| cache.release(stack));
            let again = cache.acquire(SIZE).expect("a stack of the pool");
            cache.release(again);
        });
        let first = cache.acquire(SIZE).expect("a stack");
        cache.release(first);
        granted(0, || {
            stacks.drain(..).for_each(|stack| cache.release(stack));
            drop(cache);
        });
        assert_eq!((pool.stats().live, pool.stats().pooled), (0, MANY));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_stack_is_refused_whichever_allocation_fails() {
    let output = in_child("no_memory::a_stack_is_refused_whichever_allocation_fails", || {
        let mut refused = 0;
        for allocations in 0..100 {
            let pool = StackPool::new();
            match granted(allocations, || pool.acquire(SIZE)) {
                Ok(_) => break,
                Err(StackError::System(_)) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            assert_eq!(pool.stats(), StackPool::new().stats(), "after {allocations}");
            assert!(pool.acquire(SIZE).is_ok(), "there is memory again");
        }
        assert!((3..99).contains(&refused), "{refused}");
        let plain = (0..100).find(|&allocations| granted(allocations, || MmapStack::new(SIZE)).is_ok());
        assert!(plain.is_some_and(|allocations| allocations > 0), "{plain:?}");
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Takes all memory that the allocator still has, except for small pieces.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
fn use_up() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let _ = all.try_reserve(1 << 12);
    let mut size = 1 << 24;
    while size >= 1 << 10 && all.len() < all.capacity() {
        let mut some = Vec::new();
        match some.try_reserve_exact(size) {
            Ok(()) => all.push(some),
            Err(_) => size /= 2,
        }
    }
    all
}

/// Not for sanitizers, which need address space themselves.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn all_stacks_come_back_when_there_is_no_address_space_left() {
    let name = "no_memory::all_stacks_come_back_when_there_is_no_address_space_left";
    let output = in_child(name, || {
        let pool = StackPool::builder().keep(0..=1 << 20).build();
        let mut stacks = Vec::with_capacity(1 << 20);
        let limit = libc::rlimit { rlim_cur: 1 << 30, rlim_max: 1 << 30 };
        // SAFETY: lowers a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        while let Ok(stack) = pool.acquire(SMALLEST_CLASS) {
            stacks.push(stack);
        }
        let count = stacks.len();
        assert!(count > 10_000, "{count}");
        let rest = use_up();
        drop(stacks);
        let trimmed = pool.trim();
        // A panic needs memory.
        drop(rest);
        assert_eq!((trimmed, pool.stats().reserved), (count, 0));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
