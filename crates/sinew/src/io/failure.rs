//! Why an operation has come to nothing, as the error that its caller gets.

use std::io;
use std::panic::Location;

use crate::fiber::Stopped;
use crate::rt::io::IoFailure;

/// The error, with the place where a caller that is to stop noticed it.
#[cold]
pub(super) fn error(failure: IoFailure, at: &'static Location<'static>) -> io::Error {
    match failure {
        IoFailure::Failed(error) => error,
        IoFailure::Stopped(stop) => Stopped::new(*stop, at).into(),
        // As std's sockets on Linux have both: it is one and the same error of the kernel.
        IoFailure::TimedOut | IoFailure::WouldBlock => io::Error::from_raw_os_error(libc::EAGAIN),
        IoFailure::Closed => io::Error::new(io::ErrorKind::ConnectionAborted, "it was closed by `close`"),
    }
}
