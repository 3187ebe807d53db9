//! Ends of pipes from the numbers of descriptors.
//!
//! # Safety
//!
//! Trusted with nothing but to pass a promise on: the caller owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use super::pipe::{PipeReader, PipeWriter};

/// Makes types that are made of an owned descriptor of the number of one.
macro_rules! from_raw_fd {
    ($($type:ident),+) => { $(
        impl std::os::fd::FromRawFd for $type {
            unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> Self {
                // SAFETY: the caller's promise.
                unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) }.into()
            }
        }
    )+ };
}

pub(crate) use from_raw_fd;

from_raw_fd!(PipeReader, PipeWriter);
