//! Datagrams: what std's sockets do, ours do.

use super::as_std;

as_std! {
{
    use crate::crowd::Crowd;
    use std::io::ErrorKind;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const SHORT: Duration = Duration::from_millis(5);

    fn socket() -> (net::UdpSocket, net::SocketAddr) {
        let socket = net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let addr = socket.local_addr().unwrap();
        (socket, addr)
    }

    /// Two that are connected with one another.
    fn pair() -> (net::UdpSocket, net::UdpSocket) {
        let ((here, here_addr), (there, there_addr)) = (socket(), socket());
        here.connect(there_addr).unwrap();
        there.connect(here_addr).unwrap();
        assert_eq!((here.peer_addr().unwrap(), there.peer_addr().unwrap()), (there_addr, here_addr));
        (here, there)
    }
}

fn datagrams_come_as_they_were_sent(crowd: Crowd) {
    let ((here, here_addr), (there, there_addr)) = (socket(), socket());
    let peer = crowd.spawn(1, move || {
        let mut buffer = [0; 100];
        for round in 0..10 {
            let (len, from) = there.recv_from(&mut buffer).unwrap();
            assert_eq!((len, from), (round % 3, here_addr));
            there.send_to(&buffer[..len], from).unwrap();
        }
    });
    let mut buffer = [0; 100];
    for round in 0..10 {
        assert_eq!(here.send_to(&[round as u8; 2][..round % 3], there_addr).unwrap(), round % 3);
        assert_eq!(here.peek_from(&mut buffer).unwrap(), (round % 3, there_addr));
        assert_eq!(here.recv_from(&mut buffer).unwrap(), (round % 3, there_addr));
        assert_eq!(buffer[..round % 3], [round as u8; 2][..round % 3]);
    }
    peer.join();
}

fn connected_ones_need_no_addresses(crowd: Crowd) {
    let (here, there) = pair();
    let peer = crowd.spawn(1, move || {
        let mut buffer = [0; 4];
        // What does not fit is lost.
        assert_eq!((there.peek(&mut buffer).unwrap(), there.recv(&mut buffer).unwrap()), (4, 4));
        there.send(&buffer).unwrap();
        there
    });
    assert_eq!(here.send(b"a long one").unwrap(), 10);
    let mut buffer = [0; 9];
    assert_eq!((here.recv(&mut buffer).unwrap(), &buffer[..4]), (4, &b"a lo"[..]));
    drop(peer.join());
    // No socket has this address, as the kernel finds out by itself.
    here.connect(net::SocketAddr::from(([127, 77, 0, 1], 9))).unwrap();
    let refused = [here.send(b"?"), here.recv(&mut buffer), here.send(b"?").and_then(|_| here.recv(&mut buffer))];
    let is_refused = |it: &std::io::Result<usize>| it.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    assert!(refused.iter().any(is_refused), "{refused:?}");
}

/// What does not fit is lost, and nothing of it is the next one's.
fn datagrams_are_cut_off(crowd: Crowd) {
    let ((here, addr), (there, from)) = (socket(), socket());
    let peer = crowd.spawn(1, move || {
        [&b"long one"[..], b"", b"next"].iter().for_each(|it| assert_eq!(there.send_to(it, addr).unwrap(), it.len()));
    });
    let mut buffer = [0; 4];
    assert_eq!((here.peek_from(&mut buffer[..2]).unwrap(), &buffer[..2]), ((2, from), &b"lo"[..]));
    assert_eq!((here.peek_from(&mut []).unwrap(), here.recv_from(&mut buffer).unwrap()), ((0, from), (4, from)));
    assert_eq!((here.recv_from(&mut buffer).unwrap(), here.recv(&mut buffer).unwrap(), &buffer), ((0, from), 4, b"next"));
    peer.join();
}

/// A waiting receiver gets the error that no socket has the peer's address.
fn a_refusal_ends_a_wait(crowd: Crowd) {
    let ((here, _), (gone, nowhere)) = (socket(), socket());
    here.connect(nowhere).unwrap();
    drop(gone);
    let here = Arc::new(here);
    for number in 0..4 {
        let waits = here.clone();
        let waits = crowd.spawn(number, move || waits.recv(&mut [0]).unwrap_err().kind());
        sinew::fiber::sleep(Duration::from_micros(300));
        // The next receiver may get the error of an earlier datagram.
        while !waits.is_finished() {
            let _ = here.send(b"?");
            sinew::fiber::sleep(Duration::from_micros(50));
        }
        assert_eq!(waits.join(), ErrorKind::ConnectionRefused);
    }
}

fn waits_are_limited(_crowd: Crowd) {
    let (here, _) = socket();
    assert_eq!(here.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(here.set_write_timeout(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidInput);
    here.set_read_timeout(Some(SHORT)).unwrap();
    here.set_write_timeout(Some(SHORT)).unwrap();
    assert!(here.read_timeout().unwrap() >= Some(SHORT) && here.write_timeout().unwrap() >= Some(SHORT));
    for socket in [&here, &here.try_clone().unwrap()] {
        let begun = Instant::now();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(socket.recv_from(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(begun.elapsed() >= 2 * SHORT);
    }
    here.set_read_timeout(None).unwrap();
    here.set_nonblocking(true).unwrap();
    assert_eq!(here.peek_from(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

fn several_receive_from_one_socket(crowd: Crowd) {
    let ((here, addr), (there, _)) = (socket(), socket());
    let here = Arc::new(here);
    let receivers: Vec<_> = (0..4).map(|number| {
        let here = if number == 3 { Arc::new(here.try_clone().unwrap()) } else { here.clone() };
        crowd.spawn(number, move || {
            for _ in 0..10 {
                assert_eq!(here.recv(&mut [0; 8]).unwrap(), 1);
            }
        })
    }).collect();
    for _ in 0..40 {
        there.send_to(b"x", addr).unwrap();
    }
    receivers.into_iter().for_each(|receiver| receiver.join());
}

fn what_makes_no_sense_is_an_error(_crowd: Crowd) {
    let (here, addr) = socket();
    let none = here.send_to(b"x", &[][..]).unwrap_err();
    assert_eq!((none.kind(), none.to_string()), (ErrorKind::InvalidInput, "no addresses to send data to".to_owned()));
    assert_eq!(here.connect(&[][..]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(here.send_to(&[0; 100_000], addr).is_err() && here.send(b"x").is_err() && here.peer_addr().is_err());
    assert_eq!(net::UdpSocket::bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
}

fn what_is_set_is_there(_crowd: Crowd) {
    let (here, addr) = socket();
    for is_set in [true, false] {
        here.set_broadcast(is_set).unwrap();
        here.set_multicast_loop_v4(is_set).unwrap();
        assert_eq!((here.broadcast().unwrap(), here.multicast_loop_v4().unwrap()), (is_set, is_set));
    }
    here.set_ttl(50).unwrap();
    here.set_multicast_ttl_v4(51).unwrap();
    assert_eq!((here.ttl().unwrap(), here.multicast_ttl_v4().unwrap()), (50, 51));
    let (group, any) = (net::Ipv4Addr::new(224, 0, 0, 123), net::Ipv4Addr::LOCALHOST);
    assert_eq!(here.join_multicast_v4(&group, &any).is_ok(), here.leave_multicast_v4(&group, &any).is_ok());
    assert!(here.leave_multicast_v4(&group, &any).is_err(), "it is not in that group any more");
    assert!(here.join_multicast_v4(&addr.ip().to_string().parse().unwrap(), &any).is_err(), "that is no group");
    assert!(here.take_error().unwrap().is_none());
    let text = format!("{here:?}");
    assert!(text.starts_with(&format!("UdpSocket {{ addr: {addr}, fd: ")), "{text}");
    // Where there is no IPv6 there is nothing to be set.
    if let Ok(here) = net::UdpSocket::bind("[::1]:0") {
        here.set_multicast_loop_v6(false).unwrap();
        assert!(!here.multicast_loop_v6().unwrap());
        let group: net::Ipv6Addr = "ff02::123".parse().unwrap();
        assert_eq!(here.join_multicast_v6(&group, 1).is_ok(), here.leave_multicast_v6(&group, 1).is_ok());
        assert!(here.leave_multicast_v6(&group, 1).is_err(), "it is not in that group any more");
    }
}
}
