//! The messages of errors: each tells what to do.

use std::error::Error;
use std::io;

use sinew_coroutine::{Coroutine, LARGEST_CLASS, MmapStack, StackError, StackPool};

fn says(error: impl Error, words: &str) {
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn an_error_about_a_size_says_what_to_ask_for() {
    let pool = StackPool::new();
    says(pool.acquire(0).expect_err("nothing"), "`DEFAULT_STACK_SIZE`");
    says(pool.acquire(LARGEST_CLASS + 1).expect_err("too much"), "use an `MmapStack`");
}

#[test]
fn an_error_of_the_system_keeps_its_kind_and_the_advice() {
    let system = || io::Error::from_raw_os_error(libc::ENOMEM);
    let error = io::Error::from(StackError::System(system()));
    assert_eq!(error.kind(), system().kind());
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    assert_eq!(source.and_then(io::Error::raw_os_error), Some(libc::ENOMEM));
    let back = StackError::from(error);
    assert!(
        matches!(&back, StackError::System(error) if error.raw_os_error() == Some(libc::ENOMEM)),
        "{back:?}"
    );
    says(io::Error::from(back), "vm.max_map_count");
}

#[test]
fn a_plain_stack_that_the_system_refuses_comes_with_advice() {
    says(MmapStack::new(1 << 60).expect_err("more than there is"), "check the limits on memory");
}

#[test]
fn an_error_about_a_large_closure_says_what_to_do() {
    let stack = StackPool::new().acquire(1).expect("a stack");
    let large = [1_u8; 32 * 1024];
    let result = Coroutine::<(), (), usize, _>::try_new(stack, move |_, ()| large.len());
    says(result.expect_err("it does not fit"), "box what the closure owns, or use a larger stack");
}
