//! A test's captured output ends with the test: threads of a runtime do not inherit the capture.
//!
//! A child process runs the two tests below as a user's tests: captured, one after the other. The
//! first one starts the default runtime, and passes, so that libtest drops whatever it captured.

use std::sync::mpsc;

use super::support::{is_child, stderr, this_program};
use sinew::{block_in_place, blocking, fiber};

const CHILD: &str = "SINEW_TEST_CHILD";
const TESTS: [&str; 2] = ["capture::a_passes_and_starts_the_runtime", "capture::b_fails_in_a_fiber"];

/// Starts a thread of each kind that runs a user's code, and prints there. For the child alone.
#[test]
fn a_passes_and_starts_the_runtime() {
    if !is_child() {
        return;
    }
    println!("printed by the test itself");
    sinew::run(|| {
        println!("printed by a fiber");
        eprintln!("told by a fiber");
        blocking(|| println!("printed by a blocking call"));
        // The only worker blocks, so a spare one runs the fiber that it waits for.
        let (sender, receiver) = mpsc::channel();
        let other = fiber::spawn(move || {
            println!("printed on a spare worker");
            sender.send(()).unwrap();
        });
        block_in_place(|| receiver.recv().unwrap());
        other.join().unwrap();
    });
}

/// Fails inside a fiber. For the child alone.
#[test]
fn b_fails_in_a_fiber() {
    if is_child() {
        sinew::run(|| assert_eq!(1, 2, "inside a fiber"));
    }
}

#[test]
fn what_fibers_print_in_a_test_is_seen() {
    let mut command = this_program();
    command.args(TESTS).args(["--exact", "--test-threads=1"]).env(CHILD, "1").env("SINEW_WORKERS", "1");
    let output = command.output().expect("a child");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    let all = format!("{out}{err}");
    assert!(out.contains("1 passed; 1 failed"), "{all}");
    assert!(!all.contains("printed by the test itself"), "the child's tests are captured: {all}");
    for words in [
        "printed by a fiber",
        "told by a fiber",
        "printed by a blocking call",
        "printed on a spare worker",
        "inside a fiber",
    ] {
        assert_eq!(all.matches(words).count(), 1, "{words}: {all}");
    }
}
