//! Sockets that others connect to.

use super::super::crowd::{Crowd, in_crowds};
use super::super::descriptors::{alike, alone, in_own_process, until_waiting};
use super::super::support::everywhere;
use super::{Place, name};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use sinew::fiber::CancelToken;
use sinew::os::unix::net::{UnixListener, UnixStream};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as std_net;
use std::sync::Arc;
use std::time::Duration;

alike! {
    fn all_who_connect_are_served(crowd) {
        let place = Place::new();
        let listener = net::UnixListener::bind(&place.0).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*place.0));
        let second = listener.try_clone().unwrap();
        let servers = [(0, listener), (1, second)].map(|(number, listener)| {
            crowd.spawn(number, move || {
                for stream in listener.incoming().take(8) {
                    let mut stream = stream.unwrap();
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    stream.write_all(&[byte[0] + 1]).unwrap();
                }
            })
        });
        let path = place.0.clone();
        crowd.all(16, move |number| {
            let mut stream = net::UnixStream::connect(&path).unwrap();
            assert_eq!(stream.peer_addr().unwrap().as_pathname(), Some(&*path));
            stream.write_all(&[number as u8]).unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            assert_eq!(byte[0], number as u8 + 1);
        });
        servers.into_iter().for_each(|server| server.join());
    }

    fn addresses_of_all_kinds(_crowd) {
        let address = net::SocketAddr::from_abstract_name(name()).unwrap();
        let listener = net::UnixListener::bind_addr(&address).unwrap();
        let client = net::UnixStream::connect_addr(&address).unwrap();
        let (server, from) = listener.accept().unwrap();
        assert!(from.is_unnamed() && server.peer_addr().unwrap().is_unnamed() && client.local_addr().unwrap().is_unnamed());
        assert_eq!(client.peer_addr().unwrap().as_abstract_name(), address.as_abstract_name());
        assert_eq!(net::UnixListener::bind_addr(&address).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop((listener, client, server));
        assert_eq!(net::UnixStream::connect_addr(&address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }

    fn bad_paths_are_refused(_crowd) {
        let long = "x".repeat(200);
        for path in ["a\0b", &long] {
            assert_eq!(net::UnixStream::connect(path).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(net::UnixListener::bind(path).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        let place = Place::new();
        assert_eq!(net::UnixStream::connect(&place.0).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(net::UnixStream::connect("").unwrap_err().raw_os_error(), Some(22));
    }

    /// They come from the descriptor: std has no call for a listener. Connections do not have them.
    fn time_outs_are_those_of_the_descriptor(_crowd) {
        let place = Place::new();
        let listener = std_net::UnixListener::bind(&place.0).unwrap();
        set_socket_timeout(&listener, Timeout::Recv, Some(Duration::from_millis(1))).unwrap();
        let listener = net::UnixListener::from(OwnedFd::from(listener));
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let _client = net::UnixStream::connect(&place.0).unwrap();
        assert_eq!(listener.accept().unwrap().0.read_timeout().unwrap(), None);
    }

    fn one_that_does_not_wait_says_so(_crowd) {
        let place = Place::new();
        let listener = net::UnixListener::bind(&place.0).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut client = net::UnixStream::connect(&place.0).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"x").unwrap();
        server.read_exact(&mut [0]).unwrap();
        listener.set_nonblocking(false).unwrap();
        assert!(listener.take_error().unwrap().is_none());
    }
}

/// One with no room for those who wait to be accepted, but for one.
fn narrow(place: &Place) -> UnixListener {
    let fd = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddrUnix::new(&place.0).unwrap()).unwrap();
    listen(&fd, 0).unwrap();
    UnixListener::from(fd)
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

fn check_server(crowd: Crowd) {
    let place = Place::new();
    let listener = Arc::new(UnixListener::bind(&place.0).unwrap());
    listener.set_nonblocking(true).unwrap();
    let (token, copy) = (CancelToken::new(), listener.clone());
    let other = token.clone();
    let server = crowd.spawn(1, move || {
        let mut connections = copy.connections();
        let served = other.run(|| connections.by_ref().count());
        assert!(connections.next().is_none());
        (served, connections.error().unwrap().kind())
    });
    for _ in 0..3 {
        assert_eq!(UnixStream::connect(&place.0).unwrap().read(&mut [0]).unwrap(), 0);
    }
    token.cancel();
    assert_eq!(server.join(), (3, ErrorKind::Other));
    listener.close();
    let mut connections = listener.connections();
    assert!(connections.error().is_none() && connections.next().is_none());
    assert_eq!(connections.error().unwrap().kind(), ErrorKind::ConnectionAborted);
}

/// That it is not to wait is no trouble.
#[test]
fn a_server_ends_when_it_is_to() {
    let told = in_own_process(module_path!(), "a_server_ends_when_it_is_to", || in_crowds(check_server));
    assert!(!told.contains("cannot accept"), "{told}");
}

alone! {
    fn whoever_finds_no_room_connects_later() {
        in_crowds(|crowd| {
            let place = Place::new();
            let listener = narrow(&place);
            let path = place.0.clone();
            let clients: Vec<_> = (0..4)
                .map(|number| {
                    let path = path.clone();
                    crowd.spawn(number, move || UnixStream::connect(path).unwrap().read(&mut [0]).unwrap())
                })
                .collect();
            clients.iter().for_each(until_waiting);
            (0..4).for_each(|_| drop(listener.accept().unwrap()));
            clients.into_iter().for_each(|client| assert_eq!(client.join(), 0));
        });
    }

    fn close_ends_the_waits_of_others() {
        in_crowds(|crowd| {
            for number in 0..40 {
                let place = Place::new();
                let listener = Arc::new(UnixListener::bind(&place.0).unwrap());
                let copy = listener.clone();
                let waits = crowd.spawn(number, move || copy.accept().unwrap_err().kind());
                // Of others it may come before they wait, while they try, or after.
                if number < 4 {
                    until_waiting(&waits);
                }
                listener.close();
                assert_eq!(waits.join(), ErrorKind::ConnectionAborted);
                assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::ConnectionAborted);
                assert_eq!(UnixStream::connect(&place.0).unwrap_err().kind(), ErrorKind::ConnectionRefused);
            }
        });
    }

    /// It waits in the kernel again when it is std's, but not before its clone is.
    fn it_becomes_what_it_was() {
        everywhere(|| {
            let place = Place::new();
            let listener = UnixListener::bind(&place.0).unwrap();
            assert!(is_nonblocking(&listener));
            let copy = listener.try_clone().unwrap();
            let first = std_net::UnixListener::from(listener);
            assert!(is_nonblocking(&first));
            let second = OwnedFd::from(copy);
            assert!(!is_nonblocking(&first) && !is_nonblocking(&second));
            first.set_nonblocking(true).unwrap();
            let ours = UnixListener::from(first);
            assert_eq!(ours.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
            let text = format!("{ours:?}");
            let std = std_net::UnixListener::from(ours);
            assert!(is_nonblocking(&std) && text == format!("{std:?}"));
            let client = UnixStream::connect(&place.0).unwrap();
            assert!(!is_nonblocking(&client));
            client.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            assert_eq!((&client).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    }
}
