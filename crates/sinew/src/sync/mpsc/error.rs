//! The error of a timed send, for which std has no stable type.

use std::fmt;

use crate::rt::impl_error;

/// The error of [`SyncSender::send_timeout`](super::SyncSender::send_timeout). As the error of the
/// same name in std, which is not stable there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room until the time limit.
    Timeout(T),
    /// The receiver was dropped.
    Disconnected(T),
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl_error!(SendTimeoutError<T>, |error| match error {
    SendTimeoutError::Timeout(_) => "timed out waiting for room in a channel",
    SendTimeoutError::Disconnected(_) => "sending on a closed channel",
});
