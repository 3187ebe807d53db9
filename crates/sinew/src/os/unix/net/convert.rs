//! How streams and sockets for datagrams become std's and descriptors, and the other way round. One that listens is set otherwise while it is ours,
//! and has its own.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net;

use super::datagram::UnixDatagram;
use super::stream::UnixStream;
use crate::io::adopt;

macro_rules! converts {
    ($($type:ident),*) => {
        $(
            /// It comes with the time-outs that are set, and waits or not as it did.
            impl From<net::$type> for $type {
                fn from(inner: net::$type) -> Self {
                    Self { handle: adopt(inner) }
                }
            }

            /// It goes with all that is set.
            impl From<$type> for net::$type {
                fn from(socket: $type) -> Self {
                    socket.handle.into_inner()
                }
            }

            impl From<OwnedFd> for $type {
                fn from(fd: OwnedFd) -> Self {
                    net::$type::from(fd).into()
                }
            }

            impl From<$type> for OwnedFd {
                fn from(socket: $type) -> Self {
                    socket.handle.into_inner().into()
                }
            }

            impl AsFd for $type {
                fn as_fd(&self) -> BorrowedFd<'_> {
                    self.handle.as_fd()
                }
            }

            impl AsRawFd for $type {
                fn as_raw_fd(&self) -> RawFd {
                    self.handle.get().as_raw_fd()
                }
            }

            impl IntoRawFd for $type {
                fn into_raw_fd(self) -> RawFd {
                    self.handle.into_inner().into_raw_fd()
                }
            }

            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.handle.get().fmt(f)
                }
            }
        )*
    };
}

converts!(UnixStream, UnixDatagram);
