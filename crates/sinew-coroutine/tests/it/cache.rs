//! A thread's cache of a pool: what it takes, keeps and returns.

use sinew_coroutine::{SMALLEST_CLASS, Stack, StackPool};

use crate::pool::{SIZE, acquire};
use crate::support::allocations;

#[test]
fn a_cache_takes_and_returns_without_allocating() {
    let pool = StackPool::new();
    let mut cache = pool.cache();
    let stack = cache.acquire(SIZE).expect("a stack");
    cache.release(stack);
    let count = allocations(|| {
        for _ in 0..1000 {
            let stack = cache.acquire(SIZE).expect("a stack");
            cache.release(stack);
        }
    });
    assert_eq!(count, 0);
    assert_eq!((pool.stats().live, pool.stats().pooled), (0, 1));
}

#[test]
fn a_cache_exchanges_with_its_pool_in_batches() {
    let pool = StackPool::builder().cache(8).build();
    let mut cache = pool.cache();
    let stacks: Vec<_> = (0..100).map(|_| cache.acquire(SIZE).expect("a stack")).collect();
    assert_eq!((pool.stats().live, pool.stats().pooled), (100, 0));
    stacks.into_iter().for_each(|stack| cache.release(stack));
    assert_eq!((pool.stats().live, pool.stats().pooled), (0, 100));
    cache.flush();
    assert_eq!(pool.stats().pooled, 100);
    drop(cache);
    assert_eq!((pool.stats().live, pool.stats().pooled), (0, 100));
    assert_eq!(pool.trim(), 100);
}

#[test]
fn an_empty_cache_takes_half_of_what_it_holds_the_newest_first() {
    let pool = StackPool::builder().cache(8).build();
    let stacks = acquire(&pool, 100);
    let newest: Vec<_> = stacks.iter().rev().take(5).map(Stack::top).collect();
    drop(stacks);
    let mut cache = pool.cache();
    let first = cache.acquire(SIZE).expect("a stack");
    assert_eq!(pool.trim(), 95, "the cache has four");
    let mut taken = vec![first];
    taken.extend((0..4).map(|_| cache.acquire(SIZE).expect("a stack")));
    assert_eq!(taken.iter().map(Stack::top).collect::<Vec<_>>(), newest);
}

/// Six stacks leave a part of the list's memory unused; eight do not.
#[test]
fn a_full_cache_returns_its_older_half() {
    for most in [6, 8] {
        let pool = StackPool::builder().cache(most).build();
        let mut cache = pool.cache();
        let stacks = acquire(&pool, most + 1);
        let newest: Vec<_> = stacks.iter().rev().take(most / 2 + 1).map(Stack::top).collect();
        stacks.into_iter().for_each(|stack| cache.release(stack));
        assert_eq!(pool.trim(), most / 2, "the cache has the others");
        let taken = newest.iter().map(|_| cache.acquire(SIZE).expect("a stack")).collect::<Vec<_>>();
        assert_eq!(taken.iter().map(Stack::top).collect::<Vec<_>>(), newest);
    }
}

#[test]
fn the_stacks_of_a_cache_are_counted_until_it_ends() {
    let pool = StackPool::new();
    let mut caches = [pool.cache(), pool.cache(), pool.cache()].map(Some);
    for cache in caches.iter_mut().flatten() {
        acquire(&pool, 2).into_iter().for_each(|stack| cache.release(stack));
    }
    assert_eq!((pool.stats().live, pool.stats().pooled), (0, 6));
    for ended in [1, 0, 2] {
        caches[ended] = None;
        assert_eq!((pool.stats().live, pool.stats().pooled), (0, 6), "after cache {ended}");
    }
    assert_eq!(pool.trim(), 6);
}

#[test]
fn a_stack_of_another_pool_goes_to_its_own_pool() {
    let (pool, other) = (StackPool::new(), StackPool::new());
    let mut cache = pool.cache();
    cache.release(other.acquire(SIZE).expect("a stack"));
    assert_eq!((pool.stats().pooled, other.stats().pooled), (0, 1));
}

#[test]
fn a_cache_makes_room_at_the_limit() {
    let pool = StackPool::builder().max_stacks(8).build();
    let mut cache = pool.cache();
    let stacks: Vec<_> = (0..8).map(|_| cache.acquire(SIZE).expect("a stack")).collect();
    stacks.into_iter().for_each(|stack| cache.release(stack));
    let error = pool.acquire(SIZE).expect_err("the pool cannot take what a cache has").to_string();
    assert!(error.contains("release some, flush caches, or raise `max_stacks`"), "{error}");
    let other = cache.acquire(SMALLEST_CLASS).expect("no stack is in use");
    assert_eq!((pool.stats().live, pool.stats().pooled), (1, 0));
    drop(other);
}
