//! The end of a pool: its last stacks are returned by several threads at once, when no handle keeps
//! the pool.
//!
//! # Safety
//!
//! Sets an alarm for a process of its own.
#![expect(unsafe_code, reason = "a child that hangs is ended")]

use std::sync::Barrier;

use sinew_coroutine::{PooledStack, SMALLEST_CLASS, StackPool};

use crate::support::{in_child, stderr};

/// Ends this process if it hangs, as a process with corrupted memory may.
fn end_if_hanging() {
    // SAFETY: no precondition.
    unsafe { libc::alarm(120) };
}

/// Drops each stack on a thread of its own, all at the same time.
fn drop_at_once(stacks: Vec<PooledStack>) {
    let barrier = Barrier::new(stacks.len());
    std::thread::scope(|scope| {
        for stack in stacks {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                drop(stack);
            });
        }
    });
}

#[test]
fn the_last_stacks_may_come_back_at_once_when_each_is_trimmed() {
    let output = in_child("pool_ends::the_last_stacks_may_come_back_at_once_when_each_is_trimmed", || {
        end_if_hanging();
        for _ in 0..300 {
            let pool = StackPool::builder().keep(0..=0).build();
            let stacks = (0..4).map(|_| pool.acquire(SMALLEST_CLASS).expect("a stack")).collect();
            drop(pool);
            drop_at_once(stacks);
        }
    });
    assert!(output.status.success(), "{:?} {}", output.status, stderr(&output));
}

#[test]
fn the_last_stacks_may_come_back_at_once_when_they_are_too_many() {
    const KEPT: usize = 200;
    let output = in_child("pool_ends::the_last_stacks_may_come_back_at_once_when_they_are_too_many", || {
        end_if_hanging();
        for _ in 0..50 {
            let pool = StackPool::builder().keep(KEPT / 2..=KEPT).build();
            let acquire = |_| pool.acquire(SMALLEST_CLASS).expect("a stack");
            let mut stacks: Vec<_> = (0..KEPT + 2).map(acquire).collect();
            drop(pool);
            let last = stacks.split_off(KEPT);
            drop(stacks);
            drop_at_once(last);
        }
    });
    assert!(output.status.success(), "{:?} {}", output.status, stderr(&output));
}
