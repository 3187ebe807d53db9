//! The iterator over a listener's connections that servers use.

use std::os::unix::net::SocketAddr;

use super::listener::UnixListener;
use super::stream::UnixStream;
use crate::net::connections;

connections!(UnixListener => UnixStream, SocketAddr);
