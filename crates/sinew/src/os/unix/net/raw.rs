//! Sockets from the numbers of descriptors.
//!
//! # Safety
//!
//! Trusted with nothing but to pass a promise on: whoever calls owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::datagram::UnixDatagram;
use super::listener::UnixListener;
use super::stream::UnixStream;

impl FromRawFd for UnixStream {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller's promise.
        unsafe { OwnedFd::from_raw_fd(fd) }.into()
    }
}

impl FromRawFd for UnixListener {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller's promise.
        unsafe { OwnedFd::from_raw_fd(fd) }.into()
    }
}

impl FromRawFd for UnixDatagram {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller's promise.
        unsafe { OwnedFd::from_raw_fd(fd) }.into()
    }
}
