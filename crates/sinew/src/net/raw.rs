//! Conversions from raw descriptors to sockets.
//!
//! # Safety
//!
//! This file only passes a promise on: the caller owns the descriptor.
#![expect(unsafe_code, reason = "takes the promise that a descriptor is owned")]

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;
use super::udp_socket::UdpSocket;
use crate::io::from_raw_fd;

from_raw_fd!(TcpListener, TcpStream, UdpSocket);
