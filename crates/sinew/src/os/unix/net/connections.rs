//! The connections of a listener, for as long as a server lives.

use std::os::unix::net::SocketAddr;

use super::listener::UnixListener;
use super::stream::UnixStream;
use crate::net::connections;

connections!(UnixListener => UnixStream, SocketAddr);
