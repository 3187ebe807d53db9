//! The limits that a pool is given: how many stacks there may be, how many are kept, and how little stack it takes to ask.

use sinew_coroutine::{PooledStack, SMALLEST_CLASS, StackPool};

use crate::pool::SIZE;

fn acquire(pool: &StackPool, count: usize) -> Vec<PooledStack> {
    (0..count).map(|_| pool.acquire(SIZE).expect("a stack")).collect()
}

#[test]
fn unused_stacks_make_room_at_the_limit() {
    let pool = StackPool::builder().max_stacks(8).build();
    drop(acquire(&pool, 8));
    let other = pool.acquire(SMALLEST_CLASS).expect("nobody has a stack");
    assert_eq!((pool.stats().live, pool.stats().pooled), (1, 0));
    drop(other);
}

#[test]
fn a_cache_makes_room_at_the_limit() {
    let pool = StackPool::builder().max_stacks(8).build();
    let mut cache = pool.cache();
    let stacks: Vec<_> = (0..8).map(|_| cache.acquire(SIZE).expect("a stack")).collect();
    stacks.into_iter().for_each(|stack| cache.release(stack));
    let error = pool.acquire(SIZE).expect_err("the pool cannot take what a cache has").to_string();
    assert!(error.contains("release some, flush caches, or raise `max_stacks`"), "{error}");
    let other = cache.acquire(SMALLEST_CLASS).expect("nobody has a stack");
    assert_eq!((pool.stats().live, pool.stats().pooled), (1, 0));
    drop(other);
}
