//! A worker is stuck, or every worker is, while fibers wait for it: that is told, once, with names.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::support::watch_test_with;
use super::support::{in_child, stderr, this_program, until};
use sinew::os::unix::net::UnixStream;
use sinew::{Runtime, fiber};

const SOON: Duration = Duration::from_millis(20);
const WORDS: &str = "is stuck";
const CHILD: &str = "SINEW_TEST_CHILD";

/// A gate of std's, that blocks threads.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let (is_open, changed) = &*self.0;
        drop(changed.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
    }

    fn spin(&self) {
        while !self.0.0.try_lock().is_ok_and(|is_open| *is_open) {
            std::hint::spin_loop();
        }
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// Waits for a line from the test that watches this process.
fn wait_for_the_parent() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_eq!(line, "go on\n");
}

/// Runs `body` in a process of its own. Each time that process tells of a stall, it is told to go
/// on. Returns all that it told.
fn told(name: &str, stalls: usize, body: impl FnOnce()) -> String {
    if std::env::var_os(CHILD).is_some() {
        body();
        std::process::exit(0);
    }
    let _watchdog = watch_test_with(format!("a stall that is not told: {name}"));
    let mut command = this_program();
    command.args([&format!("stall::{name}"), "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let command = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut input, mut errors) = (child.stdin.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
    let mut text = String::new();
    for _ in 0..stalls {
        let mut line = String::new();
        while !line.contains(WORDS) {
            line.clear();
            assert_ne!(errors.read_line(&mut line).unwrap(), 0, "the process ended, and told:\n{text}");
            text.push_str(&line);
        }
        input.write_all(b"go on\n").unwrap();
    }
    errors.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    text
}

#[test]
fn it_is_told_once_each_time_with_names() {
    let text = told("it_is_told_once_each_time_with_names", 2, || {
        let runtime = Runtime::builder().workers(2).name("loom").stall_report(Some(SOON)).start().unwrap();
        for _ in 0..2 {
            let gate = Gate::default();
            let blocker = |gate: &Gate| {
                let gate = gate.clone();
                move || fiber::Builder::new().name("warp".to_owned()).spawn(move || gate.pass()).unwrap()
            };
            let blockers = [runtime.run(blocker(&gate)), runtime.run(blocker(&gate))];
            // From outside, while both workers are stuck or about to be.
            let waits = runtime.spawn_batch((0..5).map(|_| || ()));
            wait_for_the_parent();
            // However long it takes.
            std::thread::sleep(SOON * 10);
            gate.open();
            blockers.into_iter().chain(waits).for_each(|fiber| fiber.join().unwrap());
        }
        assert!(runtime.shutdown(None).drained);
    });
    assert_eq!(text.matches(WORDS).count(), 2, "{text}");
    for words in ["runtime 'loom'", "worker 0: fiber 'warp' (", "worker 1: fiber 'warp' (", file!()] {
        assert_eq!(text.matches(words).count(), if words == file!() { 4 } else { 2 }, "{words}: {text}");
    }
}

#[test]
fn work_of_its_own_and_times_that_nobody_looks_at_count() {
    let text = told("work_of_its_own_and_times_that_nobody_looks_at_count", 4, || {
        let runtime = Runtime::builder().workers(1).stall_report(Some(SOON)).start().unwrap();
        let bodies: [fn() -> fiber::JoinHandle<()>; 4] = [
            || fiber::spawn(|| ()),
            || fiber::spawn(fiber::yield_now),
            || sleeper(Duration::from_millis(1)),
            // Its time comes when the worker has been stuck for a while.
            || sleeper(SOON * 3),
        ];
        for body in bodies {
            let gate = Gate::default();
            let copy = gate.clone();
            // The classic mistake: it makes a fiber, and blocks the only worker.
            let blocker = runtime.spawn(move || {
                let other = body();
                copy.pass();
                other.join().unwrap();
            });
            wait_for_the_parent();
            gate.open();
            blocker.join().unwrap();
        }
        assert!(runtime.shutdown(None).drained);
    });
    assert_eq!(text.matches(WORDS).count(), 4, "{text}");
}

/// The runtime continues after one of its own fibers has shut it down.
#[test]
fn a_stall_after_a_shutdown_from_inside_is_told_of() {
    let text = told("a_stall_after_a_shutdown_from_inside_is_told_of", 1, || {
        let runtime = Runtime::builder().workers(1).stall_report(Some(SOON)).start().unwrap();
        let (handle, gate) = (runtime.handle(), Gate::default());
        let copy = gate.clone();
        let blocker = runtime.spawn(move || {
            let other = neighbour(fiber::park);
            assert!(!handle.shutdown(None).waited);
            other.thread().unpark();
            copy.pass();
            other.join().unwrap();
        });
        wait_for_the_parent();
        gate.open();
        blocker.join().unwrap();
    });
    assert_eq!(text.matches(WORDS).count(), 1, "{text}");
}

/// A fiber that sleeps.
fn sleeper(time: Duration) -> fiber::JoinHandle<()> {
    loop {
        let sleeps = fiber::spawn(move || fiber::sleep(time));
        while !matches!(sleeps.thread().state(), fiber::State::Parked | fiber::State::Done) {
            fiber::yield_now();
        }
        // If this process is kept from running for that long, it may be over before it was seen to
        // sleep.
        if !sleeps.is_finished() {
            return sleeps;
        }
    }
}

#[test]
fn nothing_is_told_while_others_run_or_nothing_waits_or_nobody_wants_to_hear() {
    let name = "stall::nothing_is_told_while_others_run_or_nothing_waits_or_nobody_wants_to_hear";
    let output = in_child(name, || {
        let long = || std::thread::sleep(SOON * 10);
        let runtime = Runtime::builder().workers(2).stall_report(Some(SOON)).start().unwrap();
        // One is stuck, the other runs fibers, or sleeps, and nothing waits for the first.
        let stuck = runtime.spawn(long);
        until(|| stuck.thread().state() != fiber::State::New, || "it does not begin".to_owned());
        while !stuck.is_finished() {
            runtime.run(fiber::yield_now);
        }
        runtime.spawn(long).join().unwrap();
        // All are stuck, and nothing waits.
        runtime.spawn_batch([long, long]).into_iter().for_each(|fiber| fiber.join().unwrap());
        // Nothing runs, and all wait.
        let parks = runtime.spawn_batch((0..5).map(|_| fiber::park));
        long();
        parks.iter().for_each(|fiber| fiber.thread().unpark());
        parks.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(runtime.shutdown(None).drained);
        // A fiber waits for its child, which runs in its place.
        let alone = Runtime::builder().workers(1).stall_report(Some(SOON)).start().unwrap();
        alone.run(move || fiber::spawn(long).join().unwrap());
        assert!(alone.shutdown(None).drained);
        let deaf = Runtime::builder().workers(1).stall_report(None).start().unwrap();
        deaf.spawn_batch([long, long]).into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(deaf.shutdown(None).drained);
    });
    assert!(output.status.success() && !stderr(&output).contains(WORDS), "{}", stderr(&output));
}

/// One worker of two runs a fiber that never lets go of it, by a lock of std or by spinning on a
/// `try_` call. Another fiber has begun there, and cannot move: it is ready to run, or its time has
/// come.
#[test]
fn one_stuck_worker_of_several_is_told_of_with_the_name_of_its_fiber() {
    let name = "one_stuck_worker_of_several_is_told_of_with_the_name_of_its_fiber";
    let text = told(name, 6, || {
        let runtime = Runtime::builder().workers(2).name("loom").stall_report(Some(SOON)).start().unwrap();
        let waits: [fn(); 3] = [fiber::park, || fiber::sleep(SOON), read_what_comes_later];
        for (wait, spins) in waits.into_iter().flat_map(|wait| [(wait, false), (wait, true)]) {
            let gate = Gate::default();
            let copy = gate.clone();
            let body = move || {
                let other = neighbour(wait);
                other.thread().unpark();
                if spins {
                    copy.spin();
                } else {
                    copy.pass();
                }
                other.join().unwrap();
            };
            let warp = fiber::Builder::new().name("warp".to_owned());
            let warp = runtime.run(move || warp.spawn(body).unwrap());
            wait_for_the_parent();
            gate.open();
            warp.join().unwrap();
        }
        assert!(runtime.shutdown(None).drained);
    });
    assert_eq!(text.matches(WORDS).count(), 6, "{text}");
    for words in ["of runtime 'loom' is stuck", ": fiber 'warp' (", "1 fiber waits for it", file!()] {
        assert_eq!(text.matches(words).count(), 6, "{words}: {text}");
    }
}

/// Reads from a socket. What it waits for comes a while later, when its worker is stuck.
fn read_what_comes_later() {
    let (mut here, mut there) = UnixStream::pair().unwrap();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(SOON);
        there.write_all(b"x").unwrap();
    });
    here.read_exact(&mut [0]).unwrap();
    writer.join().unwrap();
}

/// A fiber that has begun on the caller's worker and waits.
fn neighbour(wait: fn()) -> fiber::JoinHandle<()> {
    let worker = || std::thread::current().id();
    loop {
        let place = Arc::new(OnceLock::new());
        let copy = place.clone();
        let other = fiber::spawn(move || {
            copy.set(worker()).unwrap();
            wait();
        });
        while !matches!(other.thread().state(), fiber::State::Parked | fiber::State::Done) {
            fiber::yield_now();
        }
        if place.get() == Some(&worker()) && !other.is_finished() {
            return other;
        }
        other.thread().unpark();
        other.join().unwrap();
    }
}

/// The time in which no thread of the process could run does not count, though a worker is stuck
/// before it and after it, each time for a part of what it takes.
#[test]
fn a_process_that_was_stopped_was_not_stuck() {
    const AFTER: Duration = Duration::from_secs(1);
    let name = "a_process_that_was_stopped_was_not_stuck";
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder().workers(1).stall_report(Some(AFTER)).start().unwrap();
        let gate = Gate::default();
        let copy = gate.clone();
        let blocker = runtime.spawn(move || copy.pass());
        let waits = runtime.spawn(|| ());
        std::thread::sleep(AFTER / 4);
        kill_process(getpid(), Signal::STOP).unwrap();
        std::thread::sleep(AFTER / 4);
        gate.open();
        blocker.join().unwrap();
        waits.join().unwrap();
        std::process::exit(0);
    }
    let _watchdog = watch_test_with(format!("a process that is stopped: {name}"));
    // Where the process is kept from running for so long that it is stuck indeed, it is tried
    // again.
    assert!((0..5).any(|_| !stop_and_go_on(name, AFTER * 3 / 2).contains(WORDS)));
}

/// Runs a test in a process that stops itself, and has it go on a while later. Returns all that it
/// told.
fn stop_and_go_on(name: &str, later: Duration) -> String {
    let mut command = this_program();
    command.args([&format!("stall::{name}"), "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        // Behind the name, which may contain anything.
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    until(is_stopped, || "it does not stop".to_owned());
    std::thread::sleep(later);
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}
