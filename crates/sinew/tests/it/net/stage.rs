//! Sockets with which every call has to wait.

use super::pair;
use sinew::net::{ListenOptions, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::time::Duration;

/// The sockets.
pub(super) struct Stage {
    /// There is nothing to read, and the peer reads nothing.
    pub(super) stream: TcpStream,
    pub(super) peer: TcpStream,
    /// No client connects.
    pub(super) listener: TcpListener,
    pub(super) udp: UdpSocket,
    /// The address of a listener whose queue is full: no client can connect.
    pub(super) full: SocketAddr,
    _full: (TcpListener, TcpStream),
}

/// A call that has to wait.
pub(super) type Call = fn(&Stage) -> io::Result<()>;

/// All of those that wait for something to happen to a socket which others have too.
pub(super) const CALLS: [Call; 11] = [
    |stage| { &stage.stream }.read(&mut [0]).map(drop),
    |stage| { &stage.stream }.read_vectored(&mut [IoSliceMut::new(&mut [0])]).map(drop),
    |stage| stage.stream.peek(&mut [0]).map(drop),
    // There may be room for more at first, and also later.
    |stage| loop {
        assert_ne!({ &stage.stream }.write(&[0; 10_000])?, 0);
    },
    |stage| loop {
        assert_ne!({ &stage.stream }.write_vectored(&[IoSlice::new(&[0; 10_000])])?, 0);
    },
    |stage| stage.listener.accept().map(drop),
    |stage| stage.listener.incoming().next().unwrap().map(drop),
    |stage| stage.udp.recv(&mut [0]).map(drop),
    |stage| stage.udp.recv_from(&mut [0]).map(drop),
    |stage| stage.udp.peek(&mut [0]).map(drop),
    |stage| stage.udp.peek_from(&mut [0]).map(drop),
];

/// Connecting, which has a socket of its own.
pub(super) const CONNECTS: [Call; 2] = [
    |stage| TcpStream::connect(stage.full).map(drop),
    |stage| TcpStream::connect_timeout(&stage.full, Duration::from_secs(3_600)).map(drop),
];

impl Stage {
    pub(super) fn new() -> Self {
        let (stream, peer) = pair();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        // There is room for one.
        let full = ListenOptions::new().backlog(0).bind("127.0.0.1:0").unwrap();
        let addr = full.local_addr().unwrap();
        let first = TcpStream::connect(addr).unwrap();
        Self { stream, peer, listener, udp, full: addr, _full: (full, first) }
    }
}
