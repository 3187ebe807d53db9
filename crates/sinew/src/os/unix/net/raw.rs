//! Conversions from raw descriptors to sockets.
//!
//! # Safety
//!
//! This file only passes a promise on: the caller owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use super::datagram::UnixDatagram;
use super::listener::UnixListener;
use super::stream::UnixStream;
use crate::io::from_raw_fd;

from_raw_fd!(UnixDatagram, UnixListener, UnixStream);
