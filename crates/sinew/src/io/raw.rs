//! Conversions from raw descriptors to ends of pipes.
//!
//! # Safety
//!
//! This file only passes a promise on: the caller owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use super::pipe::{PipeReader, PipeWriter};

/// Implements `FromRawFd` for types that are made of an owned descriptor.
macro_rules! from_raw_fd {
    ($($type:ident),+) => { $(
        impl std::os::fd::FromRawFd for $type {
            unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> Self {
                // SAFETY: the caller promises that it owns `fd`.
                unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) }.into()
            }
        }
    )+ };
}

pub(crate) use from_raw_fd;

from_raw_fd!(PipeReader, PipeWriter);
