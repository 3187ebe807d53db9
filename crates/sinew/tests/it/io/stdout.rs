//! Standard output and standard error, of processes that have them as something else each.
//!
//! # Safety
//!
//! Trusted with closing standard output, and with ending a process at once, where nothing else is
//! left to do.
#![expect(
    unsafe_code,
    reason = "closes a descriptor by its number, and ends the process without its handlers"
)]

use super::super::descriptors::{is_cancel, is_deadline};
use super::super::support::{child, in_child, is_child, migrating, pinned, stderr, watch_test};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sinew::fiber::{self, CancelToken};
use sinew::io::{self, IoSlice, IsTerminal, Write};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// More than any pipe or socket takes.
const MUCH: usize = 4 << 20;

fn this_test(name: &str) -> Command {
    child(&format!("io::stdout::{name}"))
}

/// What a child wrote for this test: libtest prints lines of its own before.
fn written(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.split_once("<<").map(|(_, rest)| rest.to_owned()).unwrap_or_else(|| panic!("no mark in {text:?}"))
}

/// Marks the beginning of what a child writes.
fn mark() {
    raw("<<");
}

/// Writes past all buffers.
fn raw(text: &str) {
    rustix::io::write(rustix::stdio::stdout(), text.as_bytes()).unwrap();
}

fn ends(mut child: Child) {
    let status = child.wait().unwrap();
    assert!(status.success(), "{status:?}");
}

#[test]
fn lines_are_kept_until_they_are_complete() {
    let output = in_child("io::stdout::lines_are_kept_until_they_are_complete", || {
        mark();
        for round in 0..2 {
            let body = move || {
                let mut out = io::stdout();
                write!(out, "{round}: one\ntwo").unwrap();
                raw("|");
                out.flush().unwrap();
                raw("|");
                let both = [IoSlice::new(b" three\n"), IoSlice::new(b"four")];
                // The first one, or both.
                let count = (&out).write_vectored(&both).unwrap();
                (&out).write_all(&b" three\nfour"[count..]).unwrap();
                raw("|");
                assert_eq!(out.lock().write(b"\n").unwrap(), 1);
            };
            if round == 0 { body() } else { pinned(1).run(body) }
        }
        let mut out = io::stdout().lock();
        assert!(!out.is_terminal() && !io::stderr().is_terminal());
        assert!(!fcntl_getfl(out.as_fd()).unwrap().contains(OFlags::NONBLOCK));
        assert_eq!((out.as_raw_fd(), io::stdout().as_raw_fd(), io::stderr().lock().as_raw_fd()), (1, 1, 2));
        assert_eq!(format!("{:?} {:?}", io::stdout(), out), "Stdout { .. } StdoutLock { .. }");
        assert_eq!(
            format!("{:?} {:?}", io::stderr(), io::stderr().lock()),
            "Stderr { .. } StderrLock { .. }"
        );
        Command::new("echo").arg("a child").stdout(io::stdout()).status().unwrap();
        // Written at the end.
        write!(out, "rest").unwrap();
    });
    assert!(output.status.success(), "{}", stderr(&output));
    let round = |number| format!("{number}: one\n|two| three\n|four\n");
    assert_eq!(written(&output.stdout), format!("{}{}a child\nrest", round(0), round(1)));
}

/// Fibers of one worker are excluded, and those of others wait without blocking theirs.
#[test]
fn a_lock_belongs_to_a_fiber() {
    let output = in_child("io::stdout::a_lock_belongs_to_a_fiber", || {
        mark();
        for runtime in [pinned(1), pinned(2), migrating(2)] {
            let fibers = runtime.spawn_batch((0..20).map(|number| {
                move || {
                    let mut out = io::stdout().lock();
                    write!(out, "{number}").unwrap();
                    (0..3).for_each(|_| fiber::yield_now());
                    // Again, by the same fiber.
                    write!(io::stdout(), "+{number}").unwrap();
                    let mut err = io::stderr().lock();
                    write!(err, "{number}").unwrap();
                    fiber::yield_now();
                    writeln!(io::stderr(), "+{number}").unwrap();
                    (0..3).for_each(|_| fiber::yield_now());
                    writeln!(out).unwrap();
                }
            }));
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
    for text in [written(&output.stdout), stderr(&output)] {
        let torn: Vec<_> =
            text.lines().filter(|line| line.split_once('+').is_none_or(|(one, two)| one != two)).collect();
        assert_eq!((torn, text.lines().count()), (vec![], 60));
    }
}

/// Writes more than a pipe takes, by a fiber of the only worker, while another one goes on.
fn write_much(mut out: impl Write + Send + 'static, mut other: impl Write + Send + 'static) {
    let runtime = pinned(1);
    let (writer, ticker) = runtime.run(move || {
        let writer = fiber::spawn(move || {
            let lines = b"0123456\n".repeat(MUCH / 8);
            out.write_all(&lines).and_then(|()| out.flush())
        });
        // The writer has filled the pipe when this one runs again.
        (0..100).for_each(|_| fiber::yield_now());
        let ticker = fiber::spawn(move || {
            (0..100).for_each(|_| fiber::yield_now());
            other.write_all(b"it goes on\n")
        });
        (writer, ticker)
    });
    ticker.join().unwrap().unwrap();
    writer.join().unwrap().unwrap();
}

/// The parent reads what was written much of only when it is told that another fiber goes on.
fn read_late(child: &mut Child, mut out: impl Read, other: impl Read) {
    let mut lines = BufReader::new(other).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("it goes on")), "it ended");
    let mut all = Vec::new();
    out.read_to_end(&mut all).unwrap();
    assert!(child.wait().unwrap().success());
    let text = written(&all);
    assert!(text.len() == MUCH && text.lines().all(|line| line == "0123456"), "{}", text.len());
}

#[test]
fn a_full_pipe_does_not_block_the_worker() {
    if is_child() {
        mark();
        write_much(io::stdout(), io::stderr());
        std::process::exit(0);
    }
    let _watch = watch_test();
    let mut command = this_test("a_full_pipe_does_not_block_the_worker");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    read_late(&mut child, out, err);
}

#[test]
fn a_full_socket_does_not_block_the_worker() {
    if is_child() {
        mark();
        write_much(io::stdout(), io::stderr());
        std::process::exit(0);
    }
    let _watch = watch_test();
    let mut command = this_test("a_full_socket_does_not_block_the_worker");
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut child = command.stdout(OwnedFd::from(theirs)).stderr(Stdio::piped()).spawn().unwrap();
    // It has a duplicate of the child's end.
    drop(command);
    let err = child.stderr.take().unwrap();
    read_late(&mut child, ours, err);
}

#[test]
fn standard_error_does_not_block_the_worker_either() {
    if is_child() {
        rustix::io::write(rustix::stdio::stderr(), b"<<").unwrap();
        write_much(io::stderr(), io::stdout());
        std::process::exit(0);
    }
    let _watch = watch_test();
    let mut command = this_test("standard_error_does_not_block_the_worker_either");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    read_late(&mut child, err, out);
}

#[test]
fn a_terminal_does_not_block_the_worker() {
    if is_child() {
        assert!(io::stdout().is_terminal() && io::stdout().lock().is_terminal());
        mark();
        write_much(io::stdout(), io::stderr());
        std::process::exit(0);
    }
    let _watch = watch_test();
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
    let theirs =
        File::options().read(true).write(true).open(ptsname(&ours, vec![]).unwrap().to_str().unwrap());
    let mut command = this_test("a_terminal_does_not_block_the_worker");
    let mut child = command.stdout(theirs.unwrap()).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("it goes on")), "it ended");
    let mut all = Vec::new();
    // A terminal whose other end is gone has an error for its end.
    let _ = File::from(ours).read_to_end(&mut all);
    ends(child);
    let text = written(&all);
    assert!(text.lines().count() == MUCH / 8 && text.lines().all(|line| line == "0123456"));
}

#[test]
fn a_file_is_written() {
    if is_child() {
        mark();
        write_much(io::stdout(), io::stderr());
        std::process::exit(0);
    }
    let _watch = watch_test();
    let path = std::env::temp_dir().join(format!("sinew-stdout-{}", std::process::id()));
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut command = this_test("a_file_is_written");
    ends(command.stdout(file.try_clone().unwrap()).stderr(Stdio::null()).spawn().unwrap());
    let mut all = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut all)).unwrap();
    assert_eq!(written(&all).len(), MUCH);
}

#[test]
fn nothing_and_what_is_closed_takes_all() {
    let output = in_child("io::stdout::nothing_and_what_is_closed_takes_all", || {
        let null = File::options().write(true).open("/dev/null").unwrap();
        // Another descriptor in its place counts from now on.
        rustix::stdio::dup2_stdout(&null).unwrap();
        write_much(io::stdout(), io::sink());
        // The runtime comes first: a descriptor that it opens later would have the number of this
        // one.
        pinned(1).run(|| {
            // SAFETY: no other code uses the descriptor in this process.
            drop(unsafe { rustix::stdio::take_stdout() });
            writeln!(io::stdout(), "nobody reads this").unwrap();
            io::stdout().lock().write_all(&[b'x'; 10_000]).and_then(|()| io::stdout().flush()).unwrap();
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Fills the pipe, if it is not full, and ends waits for room.
fn check_stops() {
    let token = CancelToken::new();
    token.cancel();
    let much = vec![b'x'; MUCH];
    let late = Instant::now() + Duration::from_millis(10);
    let error = fiber::with_deadline(late, || io::stdout().write_all(&much)).unwrap_err();
    assert!(is_deadline(&error), "{error}");
    let error = token.run(|| io::stdout().write_all(&much)).unwrap_err();
    assert!(is_cancel(&error), "{error}");
    // The lock is waited for in the same way.
    fiber::scope(|scope| {
        let lock = io::stdout().lock();
        let waits = scope.spawn(|| writeln!(io::stdout(), "never"));
        waits.cancel();
        assert!(is_cancel(&waits.join().unwrap().unwrap_err()));
        drop(lock);
    });
}

#[test]
fn a_wait_for_room_or_for_the_lock_can_be_stopped() {
    if is_child() {
        let token = CancelToken::new();
        token.cancel();
        // There is room, so it is written though the caller is to stop.
        let say = move || token.run(|| writeln!(io::stdout(), "it stops").unwrap());
        say();
        pinned(1).run(say);
        pinned(1).run(check_stops);
        check_stops();
        // Not `exit`, which waits for the reader.
        // SAFETY: nothing is left to do.
        unsafe { libc::_exit(0) };
    }
    let _watch = watch_test();
    let mut command = this_test("a_wait_for_room_or_for_the_lock_can_be_stopped");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // Kept open, and not read before the end.
    let mut pipe = child.stdout.take().unwrap();
    ends(child);
    let mut all = String::new();
    pipe.read_to_string(&mut all).unwrap();
    assert!(all.contains("it stops\n"));
}

#[test]
fn where_nobody_may_suspend_the_worker_waits() {
    let output = in_child("io::stdout::where_nobody_may_suspend_the_worker_waits", || {
        mark();
        pinned(1).run(|| {
            fiber::no_suspend(|| writeln!(io::stdout(), "{}", "a".repeat(MUCH))).unwrap();
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(written(&output.stdout).len(), MUCH + 1);
}

#[test]
fn a_fiber_that_ends_the_process_leaves_nothing_behind() {
    for name in ["while_it_has_the_lock", "without_the_lock"] {
        let _watch = watch_test();
        let output = this_test("a_fiber_ends_the_process").env("SINEW_TEST_HOW", name).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
        assert_eq!(written(&output.stdout), name);
    }
}

/// What the test above runs.
#[test]
fn a_fiber_ends_the_process() {
    if let Some(how) = std::env::var_os("SINEW_TEST_HOW") {
        let how = how.into_string().unwrap();
        mark();
        pinned(1).run(move || {
            let lock = (how == "while_it_has_the_lock").then(|| io::stdout().lock());
            write!(io::stdout(), "{how}").unwrap();
            std::process::exit(if lock.is_some() == how.starts_with("while") { 7 } else { 8 });
        });
    }
}
