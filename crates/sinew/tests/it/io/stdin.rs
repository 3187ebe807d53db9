//! Standard input, of processes that have it as something else each.

use super::super::descriptors::{is_cancel, is_deadline};
use super::super::support::{child, is_child, migrating, pinned, stderr};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sinew::io::IsTerminal;
use sinew::{fiber, io, time};
use std::fs::File;
use std::io::{BufRead, Read, Seek, Write};
use std::os::fd::AsFd;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs this test again with an input, and writes to that, if it is a pipe.
fn with_input(name: &str, input: Stdio, bytes: &[u8]) -> Output {
    let mut command: Command = child(&format!("io::stdin::{name}"));
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(bytes).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

/// Reads some in each way, and the rest.
fn read_all() -> Vec<String> {
    let mut first = String::new();
    io::stdin().read_line(&mut first).unwrap();
    let mut bytes = [0; 3];
    io::stdin().read_exact(&mut bytes).unwrap();
    let mut lock = io::stdin().lock();
    assert_eq!(lock.fill_buf().unwrap().first(), Some(&b'\n'));
    lock.consume(1);
    drop(lock);
    let mut all = vec![first, String::from_utf8_lossy(&bytes).into_owned()];
    all.extend(io::stdin().lines().map(Result::unwrap));
    all
}

const TEXT: &[u8] = b"first\nsec\nthird\nfourth";

fn check_text() {
    assert_eq!(read_all(), ["first\n", "sec", "third", "fourth"]);
    let mut stdin = io::stdin();
    assert_eq!(stdin.read(&mut [0]).unwrap(), 0);
    assert!(!stdin.is_terminal() && !fcntl_getfl(stdin.as_fd()).unwrap().contains(OFlags::NONBLOCK));
    assert_eq!(
        (format!("{stdin:?}"), format!("{:?}", stdin.lock())),
        ("Stdin { .. }".into(), "StdinLock { .. }".into())
    );
    std::process::exit(0);
}

#[test]
fn a_pipe_is_read_by_a_fiber() {
    if is_child() {
        pinned(1).run(check_text);
    }
    with_input("a_pipe_is_read_by_a_fiber", Stdio::piped(), TEXT);
}

#[test]
fn a_pipe_is_read_by_a_thread() {
    if is_child() {
        check_text();
    }
    with_input("a_pipe_is_read_by_a_thread", Stdio::piped(), TEXT);
}

#[test]
fn a_file_is_read() {
    if is_child() {
        migrating(2).run(check_text);
    }
    let path = std::env::temp_dir().join(format!("sinew-stdin-{}", std::process::id()));
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(TEXT).unwrap();
    file.rewind().unwrap();
    with_input("a_file_is_read", file.into(), b"");
}

/// Its end is a character, and lines come one by one.
#[test]
fn a_terminal_is_read() {
    if is_child() {
        for runtime in [pinned(1), migrating(2)] {
            runtime.run(|| {
                let others = fiber::spawn(|| fiber::sleep(Duration::from_millis(1)));
                assert_eq!(read_all(), ["first\n", "sec", "third", "fourth"]);
                assert!(io::stdin().is_terminal() && io::stdin().lock().is_terminal());
                others.join().unwrap();
            });
        }
        std::process::exit(0);
    }
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let typist = std::thread::spawn(move || {
        let lines = TEXT.split_inclusive(|byte| *byte == b'\n');
        for part in lines.clone().chain([&b"\n\x04"[..]]).chain(lines).chain([&b"\n\x04"[..]]) {
            rustix::io::write(&terminal, part).unwrap();
            std::thread::yield_now();
        }
        terminal
    });
    with_input("a_terminal_is_read", File::options().read(true).write(true).open(path).unwrap().into(), b"");
    typist.join().unwrap();
}

#[test]
fn nothing_and_what_was_closed_are_at_their_end() {
    if is_child() {
        let read = || assert_eq!(io::stdin().read(&mut [0]).unwrap(), 0);
        read();
        pinned(1).run(read);
        std::process::exit(0);
    }
    with_input("nothing_and_what_was_closed_are_at_their_end", Stdio::null(), b"");
    let name = "io::stdin::nothing_and_what_was_closed_are_at_their_end";
    let program = child(name);
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" <&-"]).arg(program.get_program()).args(program.get_args());
    let output =
        shell.envs(program.get_envs().filter_map(|(key, value)| Some((key, value?)))).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A fiber that waits for standard input can be stopped, also while it waits for the lock. Other
/// fibers run meanwhile.
#[test]
fn waits_for_it_are_stopped() {
    if is_child() {
        for runtime in [pinned(1), migrating(2)] {
            runtime.run(|| {
                let reads = fiber::spawn(|| io::stdin().read_line(&mut String::new()));
                while reads.thread().state() != fiber::State::Parked {
                    fiber::yield_now();
                }
                let late = time::timeout(Duration::from_millis(2), || io::stdin().read(&mut [0]));
                assert!(is_deadline(&late.unwrap_err()), "it waits for the lock");
                reads.cancel();
                assert!(is_cancel(&reads.join().unwrap().unwrap_err()));
                let late = time::timeout(Duration::from_millis(2), || io::stdin().read(&mut [0]));
                assert!(is_deadline(&late.unwrap_err()));
            });
        }
        std::process::exit(0);
    }
    // Both ends are open here until the child has ended.
    let (reader, _writer) = std::io::pipe().unwrap();
    with_input("waits_for_it_are_stopped", reader.into(), b"");
}

/// A descriptor that is only open for writing is at its end, as with std. A wait for it would never
/// end, since it never becomes readable.
#[test]
fn what_can_only_be_written_to_is_at_its_end() {
    if is_child() {
        assert_eq!(std::io::stdin().read(&mut [0]).unwrap(), 0);
        pinned(1).run(|| assert_eq!(io::stdin().read(&mut [0]).unwrap(), 0));
        std::process::exit(0);
    }
    let (_reader, writer) = std::io::pipe().unwrap();
    with_input("what_can_only_be_written_to_is_at_its_end", writer.into(), &[]);
}
