//! Sockets from the numbers of descriptors.
//!
//! # Safety
//!
//! Trusted with passing on the promise of [`FromRawFd`].
#![expect(unsafe_code, reason = "a number is taken for a descriptor")]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;
use super::udp_socket::UdpSocket;

macro_rules! from_numbers {
    ($($type:ident),*) => {
        $(
            impl FromRawFd for $type {
                unsafe fn from_raw_fd(fd: RawFd) -> Self {
                    // SAFETY: the caller's promise.
                    Self::from(unsafe { OwnedFd::from_raw_fd(fd) })
                }
            }
        )*
    };
}

from_numbers!(TcpListener, TcpStream, UdpSocket);
