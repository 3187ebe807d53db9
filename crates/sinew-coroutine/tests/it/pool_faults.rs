//! The pool under failures and concurrency: limits of the system, races, forks.
//!
//! # Safety
//!
//! Limits, locks and forks processes of its own.
#![expect(unsafe_code, reason = "limits are set and processes forked")]

use std::time::Duration;

use sinew_coroutine::{
    Coroutine, CoroutineState, GuardKind, PooledStack, SMALLEST_CLASS, Stack, StackError, StackPool,
};

use crate::pool::{SIZE, faults, guard_of, read_first, write_first};
use crate::support::{in_child, stderr};

#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn locked_memory_gets_the_other_kind_of_guard() {
    let output = in_child("pool_faults::locked_memory_gets_the_other_kind_of_guard", || {
        // Tested before memory is locked, as in a program that locks it later.
        let best = GuardKind::best();
        // SAFETY: no precondition. Memory is locked as it is touched, so that a slab is not filled
        // at once.
        let locked = unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) };
        if locked != 0 {
            return eprintln!("skipped: this process may not lock memory");
        }
        let pool = StackPool::new();
        let stack = pool.acquire(SIZE).expect("a stack");
        assert!(faults(guard_of(&stack)));
        assert_eq!(pool.stats().guards_by_advice, 0, "{best:?}: {:?}", pool.stats());
        drop(stack);
        assert_eq!(pool.trim(), 1);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_lack_of_address_space_is_an_error_and_nothing_is_lost() {
    let output = in_child("pool_faults::a_lack_of_address_space_is_an_error_and_nothing_is_lost", || {
        let limit = libc::rlimit { rlim_cur: 1 << 30, rlim_max: 1 << 30 };
        // SAFETY: lowers a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let pool = StackPool::new();
        let mut stacks = Vec::new();
        let error = loop {
            match pool.acquire(SIZE) {
                Ok(stack) => stacks.push(stack),
                Err(error) => break error,
            }
        };
        let is_lack = |error: &std::io::Error| error.raw_os_error() == Some(libc::ENOMEM);
        assert!(matches!(&error, StackError::System(error) if is_lack(error)), "{error}");
        assert!(stacks.len() > 1000, "{} stacks in a gigabyte", stacks.len());
        assert_eq!(pool.stats().live, stacks.len());
        stacks.pop();
        stacks.push(pool.acquire(SIZE).expect("one was released"));
        drop(stacks);
        pool.trim();
        assert_eq!(pool.stats().reserved, 0);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Not for sanitizers, which need mappings of their own, and die when there are none left.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn guards_that_run_out_in_the_middle_of_a_batch_are_an_error_and_nothing_is_lost() {
    let name = "pool_faults::guards_that_run_out_in_the_middle_of_a_batch_are_an_error_and_nothing_is_lost";
    let output = in_child(name, || {
        // Each guard of this kind takes two mappings, whose number is limited.
        let pool = StackPool::builder().guard_kind(GuardKind::Protection).keep(0..=0).build();
        let mut stacks = Vec::new();
        while stacks.len() < 100_000 {
            match pool.acquire(SMALLEST_CLASS) {
                Ok(stack) => stacks.push(stack),
                Err(error) => {
                    assert!(matches!(error, StackError::System(_)), "{error}");
                    assert!(error.to_string().contains("vm.max_map_count"), "{error}");
                    break;
                }
            }
        }
        assert!(stacks.len() > 10_000, "{}", stacks.len());
        assert!(stacks.iter().all(|stack| faults(guard_of(stack))));
        let live = stacks.len();
        assert_eq!(pool.stats().live, live);
        drop(stacks);
        assert_eq!(pool.stats().live, 0);
        assert!(pool.acquire(SMALLEST_CLASS).is_ok());
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn taking_returning_and_trimming_may_race() {
    const THREADS: u64 = 4;
    let pool = StackPool::builder().keep(0..=64).idle(Duration::ZERO).cache(4).build();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let pool = &pool;
            scope.spawn(move || work(pool, thread));
        }
        scope.spawn(|| {
            for _ in 0..500 {
                pool.trim();
                pool.trim_idle();
                assert!(pool.stats().slabs < 1000);
            }
        });
    });
    assert_eq!(pool.stats().live, 0);
    pool.trim();
    assert_eq!(pool.stats().reserved, 0, "{:?}", pool.stats());
}

/// Takes and returns stacks in an order drawn from a seed, some through a cache, and checks that no
/// other thread has the same stack.
fn work(pool: &StackPool, seed: u64) {
    let mut cache = pool.cache();
    let mut held: Vec<(PooledStack, u64)> = Vec::new();
    let mut draw = seed * 2 + 1;
    for round in 0..5_000_u64 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let choice = draw >> 60;
        if choice < 8 && held.len() < 40 {
            let size = if choice < 6 { SIZE } else { SMALLEST_CLASS };
            let stack = if choice.is_multiple_of(2) { cache.acquire(size) } else { pool.acquire(size) }
                .expect("a stack");
            let mark = (seed << 32) | (round + 1);
            write_first(&stack, mark);
            held.push((stack, mark));
        } else if !held.is_empty() {
            let index = usize::try_from(draw >> 33).expect("small") % held.len();
            let (stack, mark) = held.swap_remove(index);
            assert_eq!(read_first(&stack), mark, "another thread wrote to this stack");
            if choice.is_multiple_of(2) { cache.release(stack) } else { drop(stack) }
        }
    }
}

#[test]
fn stacks_and_guards_work_in_a_forked_child() {
    let output = in_child("pool_faults::stacks_and_guards_work_in_a_forked_child", || {
        let pool = StackPool::new();
        let stack = pool.acquire(SIZE).expect("a stack");
        let guard = guard_of(&stack);
        let mut coroutine =
            Coroutine::<u32, u32, u32, _>::new(stack, |suspender, number| suspender.suspend(number) + 1);
        assert_eq!(coroutine.resume(1), CoroutineState::Yielded(1));
        // SAFETY: this process has one thread that matters, and the child calls nothing that needs
        // a lock of another thread.
        let child = unsafe { libc::fork() };
        let went_on = coroutine.resume(41) == CoroutineState::Complete(42) && faults(guard);
        if child == 0 {
            // SAFETY: ends the child without running any code of the parent's.
            unsafe { libc::_exit(if went_on { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child that was forked above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(went_on && status == 0, "child {status}");
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn memory_goes_with_the_last_stack_of_a_dropped_pool() {
    let output = in_child("pool_faults::memory_goes_with_the_last_stack_of_a_dropped_pool", || {
        let pool = StackPool::new();
        let (one, two) = (pool.acquire(SIZE).expect("a stack"), pool.acquire(SIZE).expect("a stack"));
        let limits = [one.limit(), two.limit()];
        drop(pool);
        drop(one);
        assert!(limits.iter().all(|limit| !faults(*limit)), "a stack of the slab is in use");
        drop(two);
        assert!(limits.iter().all(|limit| faults(*limit)), "no stack is in use any more");
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
