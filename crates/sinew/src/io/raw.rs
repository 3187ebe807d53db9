//! Ends of pipes from the numbers of descriptors.
//!
//! # Safety
//!
//! Trusted with nothing but to pass a promise on: whoever calls owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::pipe::{PipeReader, PipeWriter};

impl FromRawFd for PipeReader {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller's promise.
        unsafe { OwnedFd::from_raw_fd(fd) }.into()
    }
}

impl FromRawFd for PipeWriter {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller's promise.
        unsafe { OwnedFd::from_raw_fd(fd) }.into()
    }
}
