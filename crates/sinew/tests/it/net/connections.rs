//! A server's loop, when there are no descriptors left.
//!
//! # Safety
//!
//! Limits processes of its own.
#![expect(unsafe_code, reason = "limits are set")]

use super::in_few_crowds;
use crate::crowd::Crowd;
use crate::support::{is_child, pinned};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::net::{TcpListener, TcpStream};
use sinew::os::linux::net::SocketAddrExt;
use sinew::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lowers the limit of descriptors for this process, and opens files until it is reached.
fn open_all() -> Vec<File> {
    let limit = libc::rlimit { rlim_cur: 100, rlim_max: 100 };
    // SAFETY: it is a limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(!files.is_empty());
    files
}

fn check_exhaustion() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let clients: Vec<_> =
        (0..3).map(|_| TcpStream::connect(listener.local_addr().unwrap()).unwrap()).collect();
    let address = SocketAddr::from_abstract_name(format!("sinew-{}", std::process::id())).unwrap();
    let unix = UnixListener::bind_addr(&address).unwrap();
    let _unix = UnixStream::connect_addr(&address).unwrap();
    let files = open_all();
    for _ in 0..3 {
        assert_eq!(listener.accept().unwrap_err().raw_os_error(), Some(libc::EMFILE));
        assert_eq!(listener.incoming().next().unwrap().unwrap_err().raw_os_error(), Some(libc::EMFILE));
    }
    let soon = Instant::now() + Duration::from_millis(40);
    assert!(fiber::with_deadline(soon, || unix.connections().next()).is_none());
    let mut connections = listener.connections();
    let soon = Instant::now() + Duration::from_millis(40);
    assert!(fiber::with_deadline(soon, || connections.next()).is_none() && Instant::now() >= soon);
    assert_eq!(connections.error().unwrap().kind(), ErrorKind::TimedOut);
    let token = CancelToken::new();
    token.cancel();
    let mut connections = listener.connections();
    assert!(token.run(|| connections.next()).is_none());

    let giver = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        drop(files);
    });
    assert_eq!(
        listener
            .connections()
            .take(3)
            .map(|(stream, _)| { &stream }.write_all(b"x"))
            .filter(Result::is_ok)
            .count(),
        3
    );
    assert!(unix.connections().next().is_some());
    drop(clients);
    giver.join().unwrap();
}

#[test]
fn a_server_waits_for_descriptors_and_says_so() {
    let name = concat!(module_path!(), "::a_server_waits_for_descriptors_and_says_so");
    let told = super::by_itself(name, || pinned(1).run(check_exhaustion));
    let count = told.matches("cannot accept connections (Too many open files").count();
    // Once for the one of Unix, and for each of the two others, unless the second was too late to
    // notice.
    assert!((2..=3).contains(&count) && told.contains("(abstract) cannot"), "{told}");
    assert!(!is_child());
}

fn check_ends(crowd: Crowd) {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let addr = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let (token, there) = (CancelToken::new(), listener.clone());
    let other = token.clone();
    let server = crowd.spawn(1, move || {
        let mut connections = there.connections();
        let served = other.run(|| connections.by_ref().count());
        assert!(connections.next().is_none());
        (served, connections.error().unwrap().kind())
    });
    for _ in 0..5 {
        assert_eq!(TcpStream::connect(addr).unwrap().peek(&mut [0]).unwrap(), 0);
    }
    token.cancel();
    assert_eq!(server.join(), (5, ErrorKind::Other));
    // Another end of the same socket listens no more.
    listener.try_clone().unwrap().close();
    let mut connections = listener.connections();
    assert!(connections.error().is_none() && connections.next().is_none());
    assert_eq!(connections.error().unwrap().kind(), ErrorKind::InvalidInput);
    listener.close();
    let mut connections = listener.connections();
    assert!(connections.next().is_none());
    let error = connections.error().unwrap();
    assert!(error.kind() == ErrorKind::ConnectionAborted && !error.get_ref().unwrap().is::<Stopped>());
}

/// That it is not to wait is no trouble.
#[test]
fn a_server_ends_when_it_is_to() {
    let name = concat!(module_path!(), "::a_server_ends_when_it_is_to");
    let told = super::by_itself(name, || in_few_crowds(check_ends));
    assert!(!told.contains("cannot accept"), "{told}");
}
