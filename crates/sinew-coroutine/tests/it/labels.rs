//! The labels of stacks: the name of the code in an overflow's message.
//!
//! # Safety
//!
//! Promises that its describers read nothing, in processes that are meant to die.
#![expect(unsafe_code, reason = "a label of one's own is unsafe to make")]

use std::ptr;

use sinew_coroutine::{Coroutine, Label, StackPool, overflow};

use crate::overflow::{assert_told, dive};
use crate::support::in_child;

#[test]
fn a_label_ends_with_its_stack() {
    let output = in_child("labels::a_label_ends_with_its_stack", || {
        overflow::install().expect("a handler");
        let pool = StackPool::new();
        let mut stack = pool.acquire(64 * 1024).expect("a stack");
        stack.set_label(Some(Label::text(&"the previous user")));
        drop(stack);
        let stack = pool.acquire(64 * 1024).expect("the same stack");
        Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, "a coroutine");
}

#[test]
fn a_label_ends_with_its_stack_in_a_cache_too() {
    let output = in_child("labels::a_label_ends_with_its_stack_in_a_cache_too", || {
        overflow::install().expect("a handler");
        let mut cache = StackPool::new().cache();
        let mut stack = cache.acquire(64 * 1024).expect("a stack");
        stack.set_label(Some(Label::text(&"the previous user")));
        cache.release(stack);
        let stack = cache.acquire(64 * 1024).expect("the same stack");
        Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, "a coroutine");
}

unsafe fn fail_half_way(_data: *const (), out: &mut dyn std::fmt::Write) -> std::fmt::Result {
    out.write_str("half")?;
    Err(std::fmt::Error)
}

#[test]
fn a_describer_that_fails_does_not_end_the_message() {
    let output = in_child("labels::a_describer_that_fails_does_not_end_the_message", || {
        overflow::install().expect("a handler");
        let mut stack = StackPool::new().acquire(64 * 1024).expect("a stack");
        // SAFETY: the describer reads nothing.
        stack.set_label(Some(unsafe { Label::new(ptr::null(), fail_half_way) }));
        Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, "half...");
}

#[test]
fn the_number_of_a_label_is_shown() {
    let output = in_child("labels::the_number_of_a_label_is_shown", || {
        overflow::install().expect("a handler");
        let mut stack = StackPool::new().acquire(64 * 1024).expect("a stack");
        stack.set_label(Some(Label::number(&"connection", u64::MAX)));
        Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, &format!("connection {}", u64::MAX));
}
