//! Tests with descriptors: each runs in a process of its own, where those that are open in the end
//! can be counted.

use super::crowd::Member;
use super::support::{in_child, stderr, until};
use sinew::fiber::{self, State, Stopped};
use std::fs;
use std::io;
use std::time::Duration;

/// A time that is longer than any wait of a test.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// Runs a test in a process of its own. What it opens is closed in the end. Returns what it wrote
/// to standard error.
pub(crate) fn in_own_process(module: &str, name: &str, body: impl FnOnce()) -> String {
    let (_, module) = module.split_once("::").expect("a module in a crate");
    let output = in_child(&format!("{module}::{name}"), || {
        let before = open();
        body();
        until(|| open() == before, || format!("descriptors are left: {:?} of {before:?}", open()));
    });
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    told
}

/// The descriptors that are open, apart from such as runtimes and threads keep.
fn open() -> Vec<String> {
    let links =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let names = links.map(|link| link.to_string_lossy().into_owned());
    let is_counted = |name: &String| {
        ["socket:", "pipe:", "anon_inode:[timerfd]"].iter().any(|kind| name.starts_with(kind))
    };
    let mut all: Vec<_> = names.filter(is_counted).collect();
    all.sort();
    all
}

/// Waits until a fiber is parked. Returns at once for a thread, whose state is not known.
pub(crate) fn until_waiting<T>(member: &Member<T>) {
    if let Member::Fiber(fiber) = member {
        while fiber.thread().state() != State::Parked && !fiber.is_finished() {
            fiber::yield_now();
        }
    }
}

/// Returns whether an error says that its caller was cancelled.
pub(crate) fn is_cancel(error: &io::Error) -> bool {
    let stopped = error.get_ref().and_then(|inner| inner.downcast_ref::<Stopped>());
    error.kind() == io::ErrorKind::Other && stopped.is_some_and(Stopped::is_cancelled)
}

/// Returns whether an error says that the deadline of its caller had passed.
pub(crate) fn is_deadline(error: &io::Error) -> bool {
    let stopped = error.get_ref().and_then(|inner| inner.downcast_ref::<Stopped>());
    error.kind() == io::ErrorKind::TimedOut && stopped.is_some_and(Stopped::is_timed_out)
}

/// Tests that run [alone](in_own_process).
macro_rules! alone {
    ($($(#[$attribute:meta])* fn $name:ident() $body:block)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                $crate::descriptors::in_own_process(module_path!(), stringify!($name), || $body);
            }
        )*
    };
}
pub(crate) use alone;

/// Tests that run [alone](in_own_process), over std's types by threads, and over ours in all
/// crowds: `io` and `net` are of the one or the other.
macro_rules! alike {
    ($($(#[$attribute:meta])* fn $name:ident($crowd:ident) $body:block)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                $crate::descriptors::in_own_process(module_path!(), stringify!($name), || {
                    {
                        use ::std::{io, os::unix::net};
                        let (_, _): (Option<io::PipeReader>, Option<net::UnixStream>) = (None, None);
                        $crate::crowd::in_threads(|$crowd: $crate::crowd::Crowd| $body);
                    }
                    {
                        use ::sinew::{io, os::unix::net};
                        let (_, _): (Option<io::PipeReader>, Option<net::UnixStream>) = (None, None);
                        $crate::crowd::in_crowds(|$crowd: $crate::crowd::Crowd| $body);
                    }
                });
            }
        )*
    };
}
pub(crate) use alike;
