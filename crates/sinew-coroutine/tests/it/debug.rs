//! The text of every hand-written `Debug` implementation.
//!
//! # Safety
//!
//! Makes a label with a function that reads nothing, and a movable coroutine that never moves.
#![expect(unsafe_code, reason = "both constructors are unsafe to call")]

use std::fmt::{self, Write};
use std::ptr;

use sinew_coroutine::{Coroutine, Label, MIN_STACK_SIZE, MmapStack, ResumeError, Stack, StackPool};

use crate::support::{SIZE, coroutine};

fn plain() -> MmapStack {
    MmapStack::new(SIZE).expect("a stack")
}

#[test]
fn a_coroutine_prints_whether_it_is_done() {
    let mut short = Coroutine::<(), (), ()>::new(plain(), |_, ()| {});
    assert_eq!(format!("{short:?}"), "Coroutine { done: false, .. }");
    short.resume(());
    assert_eq!(format!("{short:?}"), "Coroutine { done: true, .. }");
    // SAFETY: it is done, and stays on this thread.
    let movable = unsafe { short.into_movable() };
    assert_eq!(format!("{movable:?}"), "MovableCoroutine(Coroutine { done: true, .. })");
}

#[test]
fn a_suspender_prints_its_name() {
    let mut printer = coroutine::<(), (), String>(|suspender, ()| format!("{suspender:?}"));
    assert_eq!(printer.resume(()).complete().as_deref(), Some("Suspender { .. }"));
}

#[test]
fn errors_print_what_they_display() {
    let (small, large) = (MmapStack::new(MIN_STACK_SIZE).expect("a stack"), [1_u8; MIN_STACK_SIZE]);
    let refused = Coroutine::<(), (), usize>::try_new(small, move |_, ()| large.len());
    let error = refused.expect_err("the closure does not fit");
    assert!(error.to_string().contains("too small"), "{error}");
    assert_eq!(format!("{error:?}"), format!("NewError({error})"));
    let error = ResumeError("not printed");
    assert_eq!(format!("{error:?}"), format!("ResumeError({error})"));
}

#[test]
fn stacks_print_their_bounds() {
    let (plain, pooled) = (plain(), StackPool::new().acquire(SIZE).expect("a stack"));
    let bounds = |stack: &dyn Stack| format!("{{ limit: {:?}, top: {:?} }}", stack.limit(), stack.top());
    assert_eq!(format!("{plain:?}"), format!("MmapStack {}", bounds(&plain)));
    assert_eq!(format!("{pooled:?}"), format!("PooledStack {}", bounds(&pooled)));
}

#[test]
fn a_pool_prints_its_statistics_and_a_cache_its_count() {
    let pool = StackPool::new();
    let mut cache = pool.cache();
    assert_eq!(format!("{cache:?}"), "StackCache { stacks: 0, .. }");
    cache.release(pool.acquire(SIZE).expect("a stack"));
    assert_eq!(format!("{cache:?}"), "StackCache { stacks: 1, .. }");
    assert_eq!(format!("{pool:?}"), format!("StackPool({:?})", pool.stats()));
}

#[test]
fn a_label_prints_its_text_and_calls_no_function() {
    unsafe fn describe(_data: *const (), _out: &mut dyn Write) -> fmt::Result {
        panic!("the label is on no stack")
    }
    assert_eq!(format!("{:?}", Label::text(&"fiber 7")), "Label(\"fiber 7\")");
    assert_eq!(format!("{:?}", Label::number(&"fiber", 7)), "Label(\"fiber 7\")");
    // SAFETY: the function reads nothing.
    let described = unsafe { Label::new(ptr::null(), describe) };
    assert_eq!(format!("{described:?}"), "Label { .. }");
}
