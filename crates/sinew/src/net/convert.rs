//! How sockets become std's and descriptors, and the other way round; and what they share besides.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;
use super::udp_socket::UdpSocket;

macro_rules! converts {
    ($($type:ident),*) => {
        $(
            impl From<std::net::$type> for $type {
                /// Time-outs that are set, and whether it blocks, stay as they are.
                fn from(socket: std::net::$type) -> Self {
                    Self::take(socket)
                }
            }

            impl From<$type> for std::net::$type {
                fn from(socket: $type) -> Self {
                    socket.into_std()
                }
            }

            impl From<OwnedFd> for $type {
                fn from(fd: OwnedFd) -> Self {
                    Self::take(fd.into())
                }
            }

            impl From<$type> for OwnedFd {
                fn from(socket: $type) -> Self {
                    socket.into_std().into()
                }
            }

            impl IntoRawFd for $type {
                fn into_raw_fd(self) -> RawFd {
                    self.into_std().into_raw_fd()
                }
            }

            impl AsRawFd for $type {
                fn as_raw_fd(&self) -> RawFd {
                    self.handle.get().as_raw_fd()
                }
            }

            impl AsFd for $type {
                fn as_fd(&self) -> BorrowedFd<'_> {
                    self.handle.as_fd()
                }
            }

            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.handle.get().fmt(f)
                }
            }

            // No code of the user's runs while one is changed.
            impl UnwindSafe for $type {}
            impl RefUnwindSafe for $type {}
        )*
    };
}

converts!(TcpListener, TcpStream, UdpSocket);
