//! Sockets that become std's, and the other way round.
//!
//! # Safety
//!
//! Trusted with numbers of descriptors that it has just been given.
#![expect(unsafe_code, reason = "numbers are taken for descriptors")]

use super::{alone, in_few_crowds, pair};
use crate::crowd::Crowd;
use sinew::net::{TcpListener, TcpStream, UdpSocket};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(5);

fn check_streams(_crowd: Crowd) {
    let (here, mut there) = pair();
    let (number, text) = (here.as_raw_fd(), format!("{here:?}"));
    here.set_read_timeout(Some(SHORT)).unwrap();
    // It blocks, as std has it, whatever was done with it before.
    let mut here = std::net::TcpStream::from(here);
    assert_eq!((here.as_raw_fd(), format!("{here:?}")), (number, text));
    assert!(!is_nonblocking(&here));
    assert_eq!(here.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    // What std has set counts.
    let mut here = TcpStream::from(here);
    assert_eq!(here.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    here.set_read_timeout(None).unwrap();
    here.set_nonblocking(true).unwrap();
    let here = std::net::TcpStream::from(here);
    assert!(is_nonblocking(&here) && here.read_timeout().unwrap().is_none());
    let mut here = TcpStream::from(OwnedFd::from(here));
    assert_eq!(here.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    here.set_nonblocking(false).unwrap();
    assert_eq!(here.as_fd().as_raw_fd(), number);
    let raw = OwnedFd::from(here).into_raw_fd();
    // SAFETY: it was given away just now.
    let here = unsafe { TcpStream::from_raw_fd(raw) };
    let raw = here.into_raw_fd();
    // SAFETY: as above.
    let mut here = unsafe { TcpStream::from_raw_fd(raw) };
    there.write_all(b"x").unwrap();
    assert_eq!((raw, here.read(&mut [0]).unwrap()), (number, 1));
}

fn check_listeners(_crowd: Crowd) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    assert!(is_nonblocking(&listener));
    let listener = std::net::TcpListener::from(listener);
    assert!(!is_nonblocking(&listener));
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from(listener);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    let listener = std::net::TcpListener::from(listener);
    assert!(is_nonblocking(&listener));
    let listener = TcpListener::from(OwnedFd::from(listener));
    listener.set_nonblocking(false).unwrap();
    // One that is ours still, while the other one blocks.
    let lent = std::net::TcpListener::from(listener.try_clone().unwrap());
    assert!(!is_nonblocking(&lent));
    let deadline = std::time::Instant::now() + Duration::from_millis(1);
    let accepted = sinew::fiber::with_deadline(deadline, || listener.accept());
    assert_eq!(accepted.unwrap_err().kind(), ErrorKind::TimedOut);
    let client = TcpStream::connect(addr).unwrap();
    let (stream, _) = listener.accept().unwrap();
    assert!(!is_nonblocking(&stream) && !is_nonblocking(&client));
    listener.set_nonblocking(true).unwrap();
    assert!(is_nonblocking(&lent));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

fn check_datagrams(_crowd: Crowd) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = socket.local_addr().unwrap();
    socket.set_read_timeout(Some(SHORT)).unwrap();
    let socket = UdpSocket::from(socket);
    assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let raw = socket.into_raw_fd();
    // SAFETY: it was given away just now.
    let socket = unsafe { UdpSocket::from_raw_fd(raw) };
    assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    socket.send_to(b"x", addr).unwrap();
    let socket = std::net::UdpSocket::from(socket);
    assert_eq!((socket.recv(&mut [0]).unwrap(), is_nonblocking(&socket)), (1, false));
}

/// A file is no socket: nothing panics, and each call says so.
fn check_files(_crowd: Crowd) {
    let file = || OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    let (mut stream, listener, socket) =
        (TcpStream::from(file()), TcpListener::from(file()), UdpSocket::from(file()));
    let is_no_socket = |error: std::io::Error| error.raw_os_error() == Some(libc::ENOTSOCK);
    assert!(
        is_no_socket(stream.read(&mut [0]).unwrap_err()) && is_no_socket(stream.write(&[0]).unwrap_err())
    );
    assert!(is_no_socket(listener.accept().unwrap_err()) && is_no_socket(socket.recv(&mut [0]).unwrap_err()));
    assert!(listener.connections().next().is_none());
    let _ = (format!("{stream:?}"), format!("{listener:?}"), format!("{socket:?}"));
    stream.close();
    listener.close();
    socket.close();
}

/// A socket for datagrams in the place of a connection: that a read comes back short says nothing
/// of the next datagram.
fn check_others(_crowd: Crowd) {
    let (here, there) = std::os::unix::net::UnixDatagram::pair().unwrap();
    let here = TcpStream::from(OwnedFd::from(here));
    for stream in [&here, &here.try_clone().unwrap()] {
        // It is known to its worker from here on.
        stream.set_read_timeout(Some(SHORT)).unwrap();
        assert_eq!({ stream }.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        stream.set_read_timeout(None).unwrap();
        (0..3).for_each(|_| assert_eq!(there.send(b"x").unwrap(), 1));
        (0..3).for_each(|_| assert_eq!({ stream }.read(&mut [0; 8]).unwrap(), 1));
        assert_eq!(({ stream }.write(b"back").unwrap(), there.recv(&mut [0; 8]).unwrap()), (4, 4));
    }
}

fn is_nonblocking(fd: &impl AsFd) -> bool {
    rustix::fs::fcntl_getfl(fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK)
}

/// As std's are.
fn check_bounds<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>(_: &T) {}

alone! {
    fn streams_become_stds_and_ours() {
        in_few_crowds(check_streams);
    }

    fn listeners_become_stds_and_ours() {
        in_few_crowds(check_listeners);
    }

    fn sockets_for_datagrams_become_stds_and_ours() {
        in_few_crowds(check_datagrams);
    }

    fn what_is_another_socket_is_used_as_such() {
        in_few_crowds(check_others);
    }

    fn what_is_no_socket_says_so() {
        in_few_crowds(check_files);
    }

    fn they_may_be_anywhere() {
        let (here, _there) = pair();
        check_bounds(&here);
        check_bounds(&TcpListener::bind("127.0.0.1:0").unwrap());
        check_bounds(&TcpListener::bind("127.0.0.1:0").unwrap().incoming());
        check_bounds(&UdpSocket::bind("127.0.0.1:0").unwrap());
    }
}
