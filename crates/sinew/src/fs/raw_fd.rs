//! Conversions of files from and to raw descriptors.
//!
//! # Safety
//!
//! This file passes the caller's promise about a descriptor on to std.
#![expect(unsafe_code, reason = "what a descriptor is for is the caller's promise")]

use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};

use super::file::File;

impl FromRawFd for File {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller promises that it owns `fd`, which is what std requires.
        let inner = unsafe { fs::File::from_raw_fd(fd) };
        Self { inner }
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl IntoRawFd for File {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}
