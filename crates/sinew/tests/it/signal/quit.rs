//! Waiting for the end.

use super::super::support::{everywhere, pinned};
use super::process::{handler, raise, send};
use super::{alone, alone_in_crowds, killed};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::signal::{self, Signal};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

const QUITS: [Signal; 3] = [Signal::INTERRUPT, Signal::TERMINATE, Signal::QUIT];

/// Returns whether a member waits for a quit signal: the default actions are replaced then.
fn is_waited_for() -> bool {
    QUITS.iter().all(|signal| handler(*signal) != libc::SIG_DFL)
}

#[test]
fn each_of_them_ends_the_wait() {
    alone_in_crowds("quit::each_of_them_ends_the_wait", |crowd| {
        for signal in QUITS {
            let waits = crowd.spawn(0, signal::wait_for_quit_signal);
            while !is_waited_for() {
                super::give_way();
            }
            send(signal);
            assert_eq!(waits.join().unwrap(), signal);
            assert!(!is_waited_for());
        }
    });
}

#[test]
fn the_second_one_ends_the_process() {
    let by = killed("quit::the_second_one_ends_the_process", || {
        let runtime = pinned(2);
        let waits = runtime.spawn(signal::wait_for_quit_signal);
        while !is_waited_for() {
            thread::yield_now();
        }
        // Shells have what they start in the background ignore SIGINT, which it would do again.
        send(Signal::TERMINATE);
        assert_eq!(waits.join().unwrap().unwrap(), Signal::TERMINATE);
        send(Signal::TERMINATE);
        thread::park();
    });
    assert_eq!(by, Some(libc::SIGTERM));
}

#[test]
fn a_cancel_or_a_deadline_ends_the_wait() {
    alone_in_crowds("quit::a_cancel_or_a_deadline_ends_the_wait", |crowd| {
        let token = CancelToken::new();
        let copy = token.clone();
        let waits = crowd.spawn(0, move || copy.run(signal::wait_for_quit_signal));
        while !is_waited_for() {
            super::give_way();
        }
        token.cancel_with_reason("enough");
        let error = waits.join().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Other);
        assert_eq!(error.downcast::<Stopped>().unwrap().reason(), Some("enough"));
        for time in [Duration::ZERO, Duration::from_millis(2)] {
            let deadline = Instant::now() + time;
            let error = fiber::with_deadline(deadline, signal::wait_for_quit_signal).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            let stopped = error.downcast::<Stopped>().unwrap();
            assert!(stopped.is_timed_out() && stopped.by().file() == file!());
        }
        assert!(!is_waited_for());
    });
}

#[test]
fn the_error_names_the_call() {
    alone("quit::the_error_names_the_call", || {
        let token = CancelToken::new();
        token.cancel();
        let error = token.run(|| signal::wait_for_quit_signal()).unwrap_err();
        assert_eq!(error.downcast::<Stopped>().unwrap().at().file(), file!());
    });
}

#[test]
fn a_wait_where_none_may_be_leaves_no_trace() {
    alone("quit::a_wait_where_none_may_be_leaves_no_trace", || {
        everywhere(|| {
            let wait = || fiber::no_suspend(signal::wait_for_quit_signal);
            assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
            assert!(!is_waited_for());
            // What is there already needs no wait.
            let signals = signal::channel([Signal::TERMINATE]).unwrap();
            raise(Signal::TERMINATE, 0);
            assert_eq!(signals.recv(), Ok(Signal::TERMINATE));
        });
    });
}
