//! Tests of operations whose time has expired.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use super::handle::IoHandle;
use super::socket_settings::Patience;
use crate::Runtime;
use crate::rt::io::Direction;

/// Runs an operation that has these results, on a descriptor that never becomes readable.
fn attempt<const N: usize>(time: Duration, results: [io::Result<u32>; N]) -> io::Result<u32> {
    let silent: OwnedFd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
    let mut results = results.into_iter();
    let result = IoHandle::new(silent).call(Direction::Read, Patience::Wait(Some(time)), |_| {
        results.next().expect("there is one last attempt")
    });
    assert!(results.next().is_none(), "there is one last attempt");
    result
}

fn check() {
    let error = |kind: io::ErrorKind| Err(kind.into());
    let vain = || error(io::ErrorKind::WouldBlock);
    for time in [Duration::ZERO, Duration::from_millis(1)] {
        assert_eq!(attempt(time, [vain(), Ok(7)]).unwrap(), 7);
        let timed_out = attempt(time, [vain(), vain()]).unwrap_err();
        assert_eq!(timed_out.kind(), io::ErrorKind::WouldBlock);
        let failed = attempt(time, [vain(), error(io::ErrorKind::BrokenPipe)]).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::BrokenPipe);
    }
}

/// The worker that polls the descriptor may be busy: bytes that arrived in time count even if no
/// event was reported.
#[test]
fn an_operation_is_attempted_once_more_when_its_time_is_over() {
    check();
    let runtime = Runtime::builder().workers(1).start().unwrap();
    runtime.run(check);
    assert!(runtime.shutdown(None).drained);
}
