//! Sockets. Each test runs in a process of its own, in which no other test opens descriptors, and
//! checks that it leaves none open.

mod close;
mod connections;
mod descriptors;
mod faults;
mod homes;
mod options;
mod stage;
mod tcp;
mod tcp_waits;
mod udp;
mod waits;

use super::crowd::{Crowd, in_threads};
use super::support::{everywhere_in, in_child, stderr, until};
use sinew::fiber::{self, State};
use sinew::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// Tests whose bodies run over std's sockets, by threads, and over ours, in all crowds: `net` is of
/// the one or the other. What they share comes first.
macro_rules! as_std {
    ({ $($shared:item)* } $($(#[$attribute:meta])* fn $name:ident($crowd:ident: Crowd) $body:block)*) => {
        mod over_std {
            use ::std::net;
            $($shared)*
            $(pub(super) fn $name($crowd: Crowd) $body)*
        }
        mod over_ours {
            use ::sinew::net;
            $($shared)*
            $(pub(super) fn $name($crowd: Crowd) $body)*
        }
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                let path = concat!(module_path!(), "::", stringify!($name));
                crate::net::by_itself(path, || {
                    crate::crowd::in_threads(over_std::$name);
                    crate::net::in_few_crowds(over_ours::$name);
                });
            }
        )*
    };
}
pub(crate) use as_std;

/// Tests of ours, in processes of their own.
macro_rules! alone {
    ($($(#[$attribute:meta])* fn $name:ident() $body:block)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                crate::net::by_itself(concat!(module_path!(), "::", stringify!($name)), || $body);
            }
        )*
    };
}
pub(crate) use alone;

/// Runs `body` in a process of its own, with this test's name. No descriptor may be left. What was
/// written to standard error, if this is not that process.
fn by_itself(path: &str, body: fn()) -> String {
    let (_, name) = path.split_once("::").unwrap();
    let output = in_child(name, || {
        let before = open();
        body();
        // A thread that watches over a runtime may have the last of it for a moment.
        until(|| open() == before, || format!("descriptors were left: {:?} of {before:?}", open()));
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    text
}

/// What is open.
fn open() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    // The listing itself is none that is left. Threads keep what ends their waits, for those who
    // come after them; a driver that is left would be seen by its set.
    let links = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    let mut links: Vec<_> = links
        .filter(|link| !link.starts_with("/proc") && link.as_os_str() != "anon_inode:[eventfd]")
        .collect();
    links.sort();
    links
}

/// Runs `body` with threads; with fibers, and with both, in runtimes of both strategies, with one
/// and two workers, whose fibers stay or move.
fn in_few_crowds(body: fn(Crowd)) {
    in_threads(body);
    for crowd in [Crowd::Fibers, Crowd::Mixed] {
        everywhere_in(&[&[1], &[2]], move || body(crowd));
    }
}

/// Both ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (here, listener.accept().unwrap().0)
}

/// Waits until a fiber waits.
fn until_parked(fiber: &fiber::Fiber) {
    while fiber.state() != State::Parked {
        fiber::sleep(Duration::from_micros(50));
    }
}

/// A fiber or thread that is about to wait, for others to see whether it does.
pub(crate) struct AboutToWait {
    fiber: Option<fiber::Fiber>,
    thread: rustix::thread::Pid,
}

impl AboutToWait {
    /// The caller, which does nothing else before the wait.
    pub(crate) fn here() -> Self {
        Self { fiber: fiber::is_fiber().then(fiber::current), thread: rustix::thread::gettid() }
    }

    /// Returns when it waits: the fiber is parked, or the kernel says that the thread sleeps.
    pub(crate) fn until_waiting(&self) {
        match &self.fiber {
            Some(fiber) => until_parked(fiber),
            None => until(|| self.sleeps(), || "a thread does not wait".to_owned()),
        }
    }

    fn sleeps(&self) -> bool {
        let path = format!("/proc/self/task/{}/stat", self.thread.as_raw_nonzero());
        let stat = std::fs::read_to_string(path).unwrap();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    }
}
