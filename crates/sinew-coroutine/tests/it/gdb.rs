//! A real gdb walks the stack of a coroutine: from a running one into its resumer, and of a
//! suspended one to its end.
//!
//! Skipped if there is no gdb, unless `SINEW_REQUIRE_TOOLS` is set. Runs only on x86-64 without a
//! sanitizer: emulators and sanitizers cannot be debugged.
//!
//! # Safety
//!
//! Shows a debugger where a coroutine stopped, through a variable with an unmangled name.
#![cfg(all(target_arch = "x86_64", not(sinew_asan), not(sinew_tsan)))]
#![expect(unsafe_code, reason = "a name that a debugger can find")]

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use sinew_coroutine::Suspender;

use crate::support::{Tested, coroutine, in_child, this_program};

/// The instruction pointer, stack pointer and frame pointer of the suspended coroutine. No other
/// symbol of this program has this name.
#[unsafe(no_mangle)]
static SINEW_TEST_REGISTERS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// The function where gdb stops.
#[inline(never)]
fn stop_here() {
    // SAFETY: no precondition. A debugger catches the signal, and the test does not run without
    // one.
    unsafe { libc::raise(libc::SIGTRAP) };
}

#[inline(never)]
fn frame_inside(suspender: &Suspender<(), ()>) {
    stop_here();
    suspender.suspend(());
}

#[inline(never)]
fn frame_that_resumes(coroutine: &mut Tested<(), (), ()>) {
    coroutine.resume(());
    let registers = coroutine.registers().expect("it is suspended");
    for (slot, value) in SINEW_TEST_REGISTERS.iter().zip([registers.ip, registers.sp, registers.fp]) {
        slot.store(value, Ordering::Relaxed);
    }
    stop_here();
}

/// The text that gdb shows for the outermost frame of a coroutine. That frame is marked as a signal
/// frame so that gdb accepts a caller on any stack.
const CROSSING: &str = "<signal handler called>";

/// Returns whether gdb can be run.
fn have_gdb() -> bool {
    let found = Command::new("gdb").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("SINEW_REQUIRE_TOOLS").is_none(), "gdb is required here: install it");
    if !found {
        eprintln!("skipped: there is no gdb");
    }
    found
}

/// Returns the output of gdb when it runs the test `name` as a child with these commands.
fn debug(name: &str, commands: &[&str]) -> String {
    let program = this_program().get_program().to_owned();
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    gdb.args(["-ex", "set width 0", "-ex", "set pagination off", "-ex", "set startup-with-shell off"]);
    gdb.args(commands.iter().flat_map(|command| ["-ex", command]));
    gdb.arg("--args").arg(program).args(["--exact", name, "--nocapture", "--test-threads=1"]);
    gdb.env("SINEW_TEST_CHILD", name);
    let output = gdb.output().expect("gdb runs");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Checks that a walk shows these frames in this order, and that it ended because there were no
/// more frames.
fn assert_walk(walk: &str, frames: &[&str]) {
    let lines: Vec<_> = walk.lines().filter(|line| line.starts_with('#')).collect();
    let mut rest = lines.iter();
    for frame in frames {
        assert!(rest.any(|line| line.contains(frame)), "{frame} in this order in\n{walk}");
    }
    assert!(!walk.contains("Backtrace stopped"), "{walk}");
    assert!(!walk.contains("Cannot access memory"), "{walk}");
}

#[test]
fn gdb_walks_coroutines() {
    const NAME: &str = "gdb::gdb_walks_coroutines";
    if !have_gdb() {
        return;
    }
    if std::env::var("SINEW_TEST_CHILD").as_deref() == Ok(NAME) {
        in_child(NAME, || {
            let mut coroutine = coroutine(|suspender, ()| frame_inside(suspender));
            frame_that_resumes(&mut coroutine);
        });
    }
    let running = debug(NAME, &["run", "backtrace", "kill"]);
    assert_walk(&running, &["frame_inside", CROSSING, "frame_that_resumes"]);

    let registers = "((unsigned long*)&SINEW_TEST_REGISTERS)";
    let go_there: Vec<_> = [("rsp", 1), ("rbp", 2), ("rip", 0)]
        .map(|(register, index)| format!("set ${register} = {registers}[{index}]"))
        .into();
    let mut commands = vec!["run", "continue", "frame 0", "select-frame 0"];
    commands.extend(go_there.iter().map(String::as_str));
    commands.extend(["backtrace", "kill"]);
    let suspended = debug(NAME, &commands);
    assert_walk(&suspended, &["frame_inside", "root::entry", CROSSING]);
    assert!(!suspended.contains("frame_that_resumes"), "a suspended coroutine has no resumer:\n{suspended}");
}
