//! Helpers that the tests share: counted stacks, counted destructors, counted allocations, and
//! children that may crash.
//!
//! # Safety
//!
//! Wraps the system's allocator and a stack that is sound by itself. Adds counters, and refuses
//! memory if a test asks for that.
#![expect(unsafe_code, reason = "a stack and an allocator are unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Command, Output};
use std::ptr::NonNull;
use std::rc::Rc;

use sinew_coroutine::{Coroutine, MmapStack, Stack, Suspender};

/// Enough for a panic with a backtrace in a debug build.
pub(crate) const SIZE: usize = 256 * 1024;

/// A coroutine on a counted stack.
pub(crate) type Tested<In, Out, Ret> = Coroutine<In, Out, Ret, Counted>;

/// Makes a coroutine on a counted stack.
pub(crate) fn coroutine<In, Out, Ret>(
    body: impl FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
) -> Tested<In, Out, Ret> {
    Coroutine::new(Counted::new(), body)
}

thread_local! {
    static LIVE_STACKS: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static GRANTED: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A stack that counts, per thread, how many stacks of this type exist.
pub(crate) struct Counted(MmapStack);

impl Counted {
    pub(crate) fn new() -> Self {
        LIVE_STACKS.set(LIVE_STACKS.get() + 1);
        Self(MmapStack::new(SIZE).expect("a stack for a test"))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE_STACKS.set(LIVE_STACKS.get() - 1);
    }
}

// SAFETY: forwards to a sound stack.
unsafe impl Stack for Counted {
    fn top(&self) -> NonNull<u8> {
        self.0.top()
    }

    fn limit(&self) -> NonNull<u8> {
        self.0.limit()
    }
}

/// Runs a test and then checks that it leaked this number of stacks.
pub(crate) fn leaking<R>(stacks: isize, test: impl FnOnce() -> R) -> R {
    let before = LIVE_STACKS.get();
    let result = test();
    assert_eq!(LIVE_STACKS.get() - before, stacks, "stacks left behind");
    result
}

/// Runs a test and then checks that it leaked no stack.
pub(crate) fn leak_checked<R>(test: impl FnOnce() -> R) -> R {
    leaking(0, test)
}

/// Counts the allocations of this thread while `f` runs.
pub(crate) fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

/// Runs `f` while this thread may make this number of allocations and no more. One more allocation
/// that cannot fail ends the process.
pub(crate) fn granted<R>(allocations: usize, f: impl FnOnce() -> R) -> R {
    GRANTED.set(allocations);
    let result = f();
    GRANTED.set(usize::MAX);
    result
}

/// Returns whether this thread may allocate once more.
fn grant() -> bool {
    let granted = GRANTED.get();
    if granted != usize::MAX {
        GRANTED.set(granted.saturating_sub(1));
    }
    granted > 0
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: forwards to the system's allocator, or refuses.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        if !grant() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Writes its letter to a log when it is dropped.
pub(crate) struct Witness(pub(crate) char, pub(crate) Log);

impl Drop for Witness {
    fn drop(&mut self) {
        self.1.push(self.0);
    }
}

/// A shared string of letters.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<Cell<String>>);

impl Log {
    pub(crate) fn push(&self, letter: char) {
        let mut text = self.0.take();
        text.push(letter);
        self.0.set(text);
    }

    pub(crate) fn text(&self) -> String {
        let text = self.0.take();
        self.0.set(text.clone());
        text
    }
}

/// Catches a panic and returns its message.
pub(crate) fn panic_message<R>(f: impl FnOnce() -> R) -> String {
    let payload = match panic::catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("the function did not panic"),
        Err(payload) => payload,
    };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
    }
}

const CHILD: &str = "SINEW_TEST_CHILD";

/// Runs `body` in a second process of this test program, where it may crash, and returns the result
/// of that process. `test` is the path of the calling test within the program.
pub(crate) fn in_child(test: &str, body: impl FnOnce()) -> Output {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        body();
        std::process::exit(0);
    }
    let mut command = this_program();
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, test);
    command.output().expect("the test program starts once more")
}

/// Returns the emulator of another processor that runs this program, if one does.
fn emulator() -> Option<String> {
    let runner = std::env::var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").ok();
    runner.filter(|_| cfg!(target_arch = "aarch64"))
}

/// Returns whether another processor is emulated.
pub(crate) fn is_emulated() -> bool {
    emulator().is_some()
}

/// Returns a command that starts this test program again, through the emulator that runs it, if one
/// does.
pub(crate) fn this_program() -> Command {
    let program = std::env::current_exe().expect("the path of the test program");
    let Some(runner) = emulator() else { return Command::new(program) };
    let mut words = runner.split_whitespace();
    let mut command = Command::new(words.next().expect("a runner names a program"));
    command.args(words).arg(program);
    command
}

/// Returns the text that a child wrote to standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that a child was ended by `abort`.
pub(crate) fn assert_aborted(output: &Output) {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{:?}\n{}", output.status, stderr(output));
}

/// Redirects standard error to a file from now on.
pub(crate) fn replace_stderr(file: &std::fs::File) {
    use std::os::fd::AsRawFd;
    // SAFETY: both descriptors are open.
    let replaced = unsafe { libc::dup2(file.as_raw_fd(), libc::STDERR_FILENO) };
    assert_eq!(replaced, libc::STDERR_FILENO);
}
