//! Closing what others wait for.

use super::stage::{CALLS, Stage};
use super::{alone, in_few_crowds, pair, until_parked};
use crate::crowd::{Crowd, Member};
use crate::support::Random;
use sinew::fiber;
use sinew::net::{TcpStream, UdpSocket};
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::time::Duration;

/// Two wait in each of the calls.
fn check(crowd: Crowd) {
    let stage = Arc::new(Stage::new());
    let wait = |number: usize| {
        let stage = stage.clone();
        crowd.spawn(number / 2, move || CALLS[number % CALLS.len()](&stage).unwrap_err())
    };
    let members: Vec<_> = (0..2 * CALLS.len()).map(wait).collect();
    for member in &members {
        match member {
            Member::Fiber(fiber) => until_parked(fiber.thread()),
            Member::Thread(_) => fiber::sleep(Duration::from_millis(1)),
        }
    }
    stage.stream.close();
    stage.listener.close();
    stage.udp.close();
    for member in members {
        assert_eq!(member.join().kind(), ErrorKind::ConnectionAborted);
    }
    for call in CALLS {
        let error = call(&stage).unwrap_err();
        assert_eq!(
            (error.kind(), &*error.to_string()),
            (ErrorKind::ConnectionAborted, "it was closed by `close`")
        );
    }
    // Nothing waits for what is closed, and all of that is no news.
    stage.stream.close();
    assert_eq!(stage.listener.connections().count(), 0);
    while { &stage.peer }.read(&mut [0; 100_000]).unwrap() != 0 {}
}

/// The clone is not closed, but the connection is over.
fn check_clones(crowd: Crowd) {
    let stage = Arc::new(Stage::new());
    let (stream, listener) = (stage.stream.try_clone().unwrap(), stage.listener.try_clone().unwrap());
    let reader = crowd.spawn(1, move || { &stream }.read(&mut [0]).unwrap());
    let accepting = crowd.spawn(2, move || listener.accept().unwrap_err().kind());
    fiber::sleep(Duration::from_millis(1));
    stage.stream.close();
    stage.listener.close();
    assert_eq!((reader.join(), accepting.join()), (0, ErrorKind::InvalidInput));
}

/// The socket is closed at any moment of a call. The call reports that, and not an end that the
/// peer has made, or another error.
fn check_moments(crowd: Crowd) {
    let calls: [fn(&TcpStream, &UdpSocket) -> io::Result<usize>; 4] = [
        |mut stream, _| stream.read(&mut [0]),
        |stream, _| stream.peek(&mut [0]),
        |_, udp| udp.recv(&mut [0]),
        |_, udp| udp.recv_from(&mut [0]).map(|(len, _)| len),
    ];
    let mut random = Random::new(3);
    for round in 0..40 {
        let ((stream, _peer), udp) = (pair(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let both = Arc::new((stream, udp));
        let there = both.clone();
        let member = crowd.spawn(1, move || calls[round % 4](&there.0, &there.1));
        for _ in 0..random.below(60) {
            fiber::yield_now();
        }
        both.0.close();
        both.1.close();
        assert_eq!(member.join().unwrap_err().kind(), ErrorKind::ConnectionAborted);
    }
}

alone! {
    fn whoever_comes_at_that_moment_gets_an_error() {
        in_few_crowds(check_moments);
    }

    fn whoever_waits_gets_an_error() {
        in_few_crowds(check);
    }

    fn clones_read_the_end() {
        in_few_crowds(check_clones);
    }
}
