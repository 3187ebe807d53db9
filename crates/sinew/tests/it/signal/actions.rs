//! What was there before: it is called, and comes back.

use super::process::{CALLS, action, counts, handler, install, passes_on, raise, send};
use super::{alone, killed};
use sinew::signal::{self, Signal};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::Ordering;

fn calls() -> usize {
    CALLS.load(Ordering::SeqCst)
}

#[test]
fn the_default_comes_back() {
    let by = killed("actions::the_default_comes_back", || {
        let both = [(); 2].map(|()| signal::channel([Signal::TERMINATE]).unwrap());
        send(Signal::TERMINATE);
        for signals in both {
            assert_eq!(signals.recv(), Ok(Signal::TERMINATE));
            raise(Signal::TERMINATE, 0);
            drop(signals);
        }
        send(Signal::TERMINATE);
        // Any thread may be the one that dies of it first.
        std::thread::park();
    });
    assert_eq!(by, Some(libc::SIGTERM));
}

#[test]
fn a_handler_is_called_too_and_comes_back() {
    alone("actions::a_handler_is_called_too_and_comes_back", || {
        for (handler_of, flags) in
            [(counts(), 0), (passes_on(), libc::SA_SIGINFO), (counts(), libc::SA_NODEFER)]
        {
            install(Signal::USER1, libc::SIG_DFL, 0);
            install(Signal::USER1, handler_of, flags);
            for _ in 0..10 {
                let signals = signal::channel([Signal::USER1]).unwrap();
                assert_ne!(handler(Signal::USER1), handler_of);
                let before = calls();
                // Whatever the other handler makes of it, `errno` is as it was.
                assert_eq!(raise(Signal::USER1, 9), 9);
                assert_eq!((calls(), signals.recv()), (before + 1, Ok(Signal::USER1)));
                drop(signals);
                assert_eq!(handler(Signal::USER1), handler_of);
                raise(Signal::USER1, 0);
                assert_eq!(calls(), before + 2);
            }
        }
    });
}

#[test]
fn a_handler_for_one_call_has_one() {
    alone("actions::a_handler_for_one_call_has_one", || {
        install(Signal::USER1, counts(), libc::SA_RESETHAND);
        let signals = signal::channel([Signal::USER1]).unwrap();
        for _ in 0..2 {
            raise(Signal::USER1, 0);
            assert_eq!((calls(), signals.recv()), (1, Ok(Signal::USER1)));
        }
        drop(signals);
        assert_eq!(handler(Signal::USER1), libc::SIG_DFL);
    });
}

#[test]
fn one_that_was_installed_over_ours_stays() {
    alone("actions::one_that_was_installed_over_ours_stays", || {
        let signals = signal::channel([Signal::USER1]).unwrap();
        install(Signal::USER1, passes_on(), libc::SA_SIGINFO);
        raise(Signal::USER1, 0);
        assert_eq!((calls(), signals.recv()), (1, Ok(Signal::USER1)));
        drop(signals);
        assert_eq!(handler(Signal::USER1), passes_on());
        raise(Signal::USER1, 0);
        assert_eq!(calls(), 2);
    });
}

/// One that is before ours and in front of it calls us, and we call it: not for ever.
#[test]
fn a_circle_of_handlers_ends() {
    alone("actions::a_circle_of_handlers_ends", || {
        install(Signal::USER1, passes_on(), libc::SA_SIGINFO);
        let signals = signal::channel([Signal::USER1]).unwrap();
        install(Signal::USER1, passes_on(), libc::SA_SIGINFO);
        for round in 1..=3 {
            raise(Signal::USER1, 0);
            assert_eq!((calls(), signals.recv()), (2 * round, Ok(Signal::USER1)));
        }
    });
}

#[test]
fn what_is_ignored_is_received_and_then_ignored_again() {
    alone("actions::what_is_ignored_is_received_and_then_ignored_again", || {
        assert_eq!(handler(Signal::PIPE), libc::SIG_IGN);
        install(Signal::CHILD, libc::SIG_IGN, 0);
        let signals = signal::channel([Signal::PIPE, Signal::CHILD]).unwrap();
        send(Signal::PIPE);
        assert_eq!(signals.recv(), Ok(Signal::PIPE));
        // No process has to wait for children whose end is ignored.
        let flags = libc::SA_NOCLDWAIT | libc::SA_RESTART | libc::SA_ONSTACK;
        assert_eq!(action(Signal::CHILD).sa_flags & flags, flags);
        drop(signals);
        assert_eq!((handler(Signal::PIPE), handler(Signal::CHILD)), (libc::SIG_IGN, libc::SIG_IGN));
        raise(Signal::PIPE, 0);
    });
}

#[test]
fn children_have_nothing_of_it() {
    alone("actions::children_have_nothing_of_it", || {
        let _signals = signal::channel([Signal::TERMINATE, Signal::CHILD]).unwrap();
        let output = Command::new("ls").args(["-l", "/proc/self/fd"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && !text.contains("eventfd"), "{text}");
        assert!(super::descriptors().iter().any(|target| target.contains("eventfd")));
        let status = Command::new("sh").args(["-c", "kill -TERM $$; sleep 60"]).status().unwrap();
        assert_eq!(status.signal(), Some(libc::SIGTERM));
    });
}
