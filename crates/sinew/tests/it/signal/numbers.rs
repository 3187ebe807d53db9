//! Names and numbers, and what no channel can have.

use super::process::handler;
use sinew::signal::{self, Signal};
use std::io::ErrorKind;

#[test]
fn signals_have_the_names_of_the_system() {
    for (signal, number, name) in [
        (Signal::HANGUP, libc::SIGHUP, "SIGHUP"),
        (Signal::INTERRUPT, libc::SIGINT, "SIGINT"),
        (Signal::QUIT, libc::SIGQUIT, "SIGQUIT"),
        (Signal::TERMINATE, libc::SIGTERM, "SIGTERM"),
        (Signal::CHILD, libc::SIGCHLD, "SIGCHLD"),
        (Signal::real_time(0).unwrap(), libc::SIGRTMIN(), "SIGRTMIN+0"),
        (Signal::real_time(30).unwrap(), libc::SIGRTMIN() + 30, &format!("SIGRTMIN+{}", 30)),
    ] {
        assert_eq!((signal.as_raw(), signal.to_string()), (number, name.to_owned()));
        assert_eq!((Signal::try_from(number).unwrap(), i32::from(signal)), (signal, number));
        assert_eq!(
            (format!("{signal:?}"), format!("{signal:>11}")),
            (name.to_owned(), format!("{name:>11}"))
        );
    }
    let all: Vec<_> = (1..32).map(|number| Signal::from_raw(number).unwrap().to_string()).collect();
    assert!(all.iter().all(|name| name.starts_with("SIG") && !name.contains('+')), "{all:?}");
}

#[test]
fn what_is_no_signal_is_an_error() {
    for number in [0, -1, 65, 1_000, i32::MAX, i32::MIN] {
        let error = Signal::from_raw(number).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&number.to_string()), "{error}");
    }
    for number in [32, 33] {
        let error = Signal::from_raw(number).unwrap_err();
        assert!(error.to_string().contains("C library"), "{error}");
    }
    assert!(Signal::from_raw(64).is_ok());
    for number in [31, u32::MAX] {
        assert_eq!(Signal::real_time(number).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn some_are_refused_and_nothing_has_changed() {
    let before = handler(Signal::WINDOW_CHANGE);
    for (signal, why) in [
        (Signal::KILL, "SIGKILL cannot be received from a channel: the kernel"),
        (Signal::STOP, "SIGSTOP cannot be received from a channel: the kernel"),
        (Signal::SEGMENTATION, "SIGSEGV cannot be received from a channel: it reports a fault"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ARITHMETIC, "SIGFPE"),
        (Signal::ILLEGAL_INSTRUCTION, "SIGILL"),
    ] {
        let error = signal::channel([Signal::WINDOW_CHANGE, signal]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with(why), "{error}");
        assert_eq!(handler(Signal::WINDOW_CHANGE), before);
    }
    let error = signal::channel([]).unwrap_err();
    assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains("at least one"), "{error}");
}
