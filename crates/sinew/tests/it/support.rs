//! What the tests share: runtimes of all kinds under watch, and children that may crash.
//!
//! # Safety
//!
//! Trusted with the promise that the fibers of tests which run over all kinds of runtime hold
//! nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::mute::Muted;
use super::watchdog::{Patience, Watchdog, watch};
use sinew::{Runtime, Strategy, fiber};
use std::any::Any;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

/// The numbers of workers that most tests run over.
pub(crate) const WORKERS: [usize; 3] = [1, 2, 8];

/// The strategies that most tests run over: both, or the one that this variable names, where
/// everything takes long.
pub(crate) fn strategies() -> Vec<Strategy> {
    match std::env::var("SINEW_TEST_STRATEGY") {
        Ok(name) => vec![name.parse().unwrap()],
        Err(_) => Strategy::ALL.to_vec(),
    }
}

/// Runs `body` as a fiber of runtimes with 1, 2 and 8 workers, of both strategies, whose fibers
/// stay or move. Nothing may be left of it. With as many workers as a variable says, where
/// everything takes long.
pub(crate) fn everywhere(body: impl Fn() + Send + Sync + 'static) {
    match std::env::var("SINEW_TEST_WORKERS") {
        Ok(workers) => everywhere_in(&[&[workers.parse().unwrap()]], body),
        Err(_) => everywhere_in(&[&[1], &[2], &[8]], body),
    }
}

/// As [`everywhere`], in runtimes with groups of these sizes.
pub(crate) fn everywhere_in(groups: &[&[usize]], body: impl Fn() + Send + Sync + 'static) {
    // One type for all: the compiler has to make a fiber of it.
    let body: Arc<dyn Fn() + Send + Sync> = Arc::new(body);
    in_each(groups, |runtime| {
        let (runtime, body) = (Watched::new(runtime), body.clone());
        runtime.run(move || body());
    });
}

/// Calls `body` with runtimes of both strategies, whose fibers stay or move, with groups of these
/// sizes.
pub(crate) fn in_each(groups: &[&[usize]], body: impl Fn(Runtime)) {
    for (sizes, strategy) in
        groups.iter().flat_map(|sizes| strategies().into_iter().map(move |strategy| (sizes, strategy)))
    {
        // SAFETY: this file's promise.
        for builder in [Runtime::builder(), unsafe { Runtime::builder().assume_migration_safe() }] {
            body(builder.groups(sizes.iter().copied()).strategy(strategy).start().unwrap());
        }
    }
}

pub(crate) fn pinned(workers: usize) -> Watched {
    Watched::new(Runtime::builder().workers(workers).start().unwrap())
}

pub(crate) fn migrating(workers: usize) -> Watched {
    // SAFETY: this file's promise.
    let builder = unsafe { Runtime::builder().assume_migration_safe() };
    Watched::new(builder.workers(workers).start().unwrap())
}

/// Numbers that look random and are the same each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Aborts the process if the test does not end before the result is dropped.
pub(crate) fn watch_test() -> Watchdog {
    Watchdog::with(hangs)
}

/// As [`watch_test`], and says with what it hangs.
pub(crate) fn watch_test_with(what: impl Into<String>) -> Watchdog {
    let what = what.into();
    Watchdog::with(move || format!("the test hangs, with {what}"))
}

fn hangs() -> String {
    "the test hangs".to_owned()
}

/// A runtime that is shut down in the end, and a thread that aborts if the test does not end.
pub(crate) struct Watched {
    runtime: Option<Runtime>,
    _watchdog: Watchdog,
}

impl Watched {
    pub(crate) fn new(runtime: Runtime) -> Self {
        Self { runtime: Some(runtime), _watchdog: watch_test() }
    }

    pub(crate) fn take(&mut self) -> Runtime {
        self.runtime.take().expect("it is taken once")
    }
}

impl std::ops::Deref for Watched {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is not shut down yet")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take()
            && !thread::panicking()
        {
            let report = runtime.shutdown(None);
            assert!(report.drained && report.discarded == 0 && report.leaked.is_empty(), "{report:?}");
            // A panic in a driver is one, too.
            assert_eq!(runtime.stats().driver_errors, 0);
        }
    }
}

const CHILD: &str = "SINEW_TEST_CHILD";

/// Runs `body` in a process of its own, by starting this program again for this one test. It aborts
/// if it hangs.
pub(crate) fn in_child(name: &str, body: impl FnOnce()) -> Output {
    if is_child() {
        let patience = Patience::of_a_test();
        thread::spawn(|| watch(patience, &AtomicBool::new(false), hangs));
        body();
        std::process::exit(0);
    }
    child(name).output().expect("a child")
}

/// Whether this is such a process.
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Such a process, for this test, before it is started.
pub(crate) fn child(name: &str) -> Command {
    let mut command = this_program();
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    command
}

/// Starts this program again for this test, until it tells of a stall; then it is ended.
pub(crate) fn is_told_of_as_stuck(name: &str) {
    let _watchdog = watch_test();
    let mut child = child(name).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("is stuck")), "it ended without a word");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL), "it ended by itself");
}

/// The emulator of another processor that runs this program, if one does.
fn emulator() -> Option<String> {
    let runner = std::env::var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").ok();
    runner.filter(|_| cfg!(target_arch = "aarch64"))
}

/// Whether another processor is emulated.
pub(crate) fn is_emulated() -> bool {
    emulator().is_some()
}

/// This test program, to be started again; through the emulator that runs it, if one does.
pub(crate) fn this_program() -> Command {
    let program = std::env::current_exe().expect("the path of the test program");
    let Some(runner) = emulator() else { return Command::new(program) };
    let mut words = runner.split_whitespace();
    let mut command = Command::new(words.next().expect("a runner names a program"));
    command.args(words).arg(program);
    command
}

/// What a child wrote to standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Panics on purpose, without calling the panic hook: see `mute.rs`.
pub(crate) fn quiet_panic(payload: impl Any + Send) -> ! {
    resume_unwind(Box::new(payload))
}

/// Mutes panics whose message contains `text`, until the guard is dropped: see `mute.rs`.
pub(crate) fn mute(text: &'static str) -> Muted {
    // The first runtime installs a hook that prints the fiber's name. The hook of `mute` must wrap
    // it. The runtime ends on a thread, because a fiber would wait for that end, inside
    // `call_once`.
    static HAS_HOOK: Once = Once::new();
    let start = || drop(Runtime::builder().workers(1).start().unwrap());
    HAS_HOOK.call_once(|| thread::spawn(start).join().unwrap());
    super::mute::mute(text)
}

/// Calls `body`, which must panic with a message that contains `text`. Returns the message, which
/// is not printed.
pub(crate) fn panics_with<T>(text: &'static str, body: impl FnOnce() -> T) -> String {
    let _muted = mute(text);
    let panic = catch_unwind(AssertUnwindSafe(body)).map(drop).expect_err("a panic");
    let message = message(&*panic);
    assert!(message.contains(text), "{message}");
    message
}

/// Calls `wait` where a fiber must not suspend. It must be refused by a panic, which is not
/// printed.
pub(crate) fn refused<T>(wait: impl FnOnce() -> T) {
    panics_with("waits inside `no_suspend`", || fiber::no_suspend(wait));
}

/// A message of a panic.
pub(crate) fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Waits until something is so that others are about to see to, for a while: they may be slow, and
/// something that never comes is told of.
pub(crate) fn until(is_so: impl Fn() -> bool, problem: impl Fn() -> String) {
    assert!(comes_true(is_so), "{}", problem());
}

/// Waits until `is_so` returns true, and returns false if it never does. The time limit is no
/// measurement: it ends a test that hangs.
pub(crate) fn comes_true(is_so: impl Fn() -> bool) -> bool {
    let mut patience = Patience::new(Duration::from_secs(20));
    while !is_so() {
        if patience.is_over() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}
