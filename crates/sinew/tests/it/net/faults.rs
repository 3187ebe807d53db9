//! When things go wrong: many at once, and one after the other.

use super::stage::Stage;
use super::{alone, in_few_crowds, pair};
use crate::crowd::Crowd;
use crate::support::{everywhere_in, migrating, pinned};
use sinew::fiber;
use sinew::net::{ListenOptions, TcpListener, TcpStream};
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn check_connects_that_take_long(_crowd: Crowd) {
    let stage = Stage::new();
    let begun = Instant::now();
    let error = TcpStream::connect_timeout(&stage.full, Duration::from_millis(3)).unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(3));
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::TimedOut, "connection timed out".to_owned()));
    assert!(error.raw_os_error().is_none());
    // As with std.
    let std = std::net::TcpStream::connect_timeout(&stage.full, Duration::from_millis(3)).unwrap_err();
    assert_eq!((std.kind(), std.to_string()), (error.kind(), error.to_string()));
}

/// Other sockets reuse the numbers of closed descriptors at once. No reader gets an event of
/// another socket.
fn check_numbers() {
    let one = |seed: u8| {
        fiber::spawn(move || {
            for round in 0..100_u8 {
                let (here, mut there) = pair();
                let byte = seed.wrapping_mul(31).wrapping_add(round);
                let reader = fiber::spawn(move || {
                    let mut read = Vec::new();
                    { &here }.read_to_end(&mut read).unwrap();
                    read
                });
                if round % 3 == 0 {
                    fiber::yield_now();
                }
                there.write_all(&[byte]).unwrap();
                drop(there);
                assert_eq!(reader.join().unwrap(), [byte]);
            }
        })
    };
    let fibers: Vec<_> = (0..8).map(one).collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// Resets `many` connections at once. Their clients have no fibers.
fn kill(many: usize) {
    let listener = ListenOptions::new().backlog(4_096).bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let mut clients = Vec::new();
    let serve = |_| {
        clients.push(std::net::TcpStream::connect(addr).unwrap());
        SockRef::from(clients.last().unwrap()).set_linger(Some(Duration::ZERO)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        fiber::spawn(move || stream.read(&mut [0; 16]).unwrap_err().kind())
    };
    let servers: Vec<_> = (0..many).map(serve).collect();
    drop(clients);
    assert!(servers.into_iter().all(|server| server.join().unwrap() == ErrorKind::ConnectionReset));
}

/// A number of connections that needs less than the process's limit of descriptors; at most 5,000.
fn many() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let limit = line.split_whitespace().nth(3).unwrap().parse().unwrap_or(usize::MAX);
    (limit / 2 - 100).min(5_000)
}

/// More data than the kernel buffers goes one way and comes back. It is read only after the writer
/// has had to wait, mostly.
fn check_pressure(crowd: Crowd) {
    const LEN: usize = 20_000_000;
    let (here, there) = pair();
    let echo = crowd.spawn(1, move || std::io::copy(&mut &there, &mut &there).unwrap());
    let here = Arc::new(here);
    let writer = here.clone();
    let writer = crowd.spawn(0, move || {
        { &*writer }.write_all(&vec![7; LEN]).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    // Mostly, the writer has to wait by now.
    fiber::sleep(Duration::from_millis(5));
    let (mut read, mut buffer) = (0, vec![0; 100_000]);
    loop {
        match { &*here }.read(&mut buffer).unwrap() {
            0 => break,
            len => read += len,
        }
    }
    writer.join();
    assert_eq!((read, echo.join()), (LEN, LEN as u64));
}

/// The peer sends nothing, and the reader waits; then the peer is gone, and the read fails.
fn check_half_open(crowd: Crowd) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // This connection is never accepted.
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.write_all(b"anybody?").unwrap();
    let reader = crowd.spawn(1, move || client.read(&mut [0]).unwrap_err().kind());
    fiber::sleep(Duration::from_millis(1));
    assert!(!reader.is_finished());
    drop(listener);
    assert_eq!(reader.join(), ErrorKind::ConnectionReset);
}

/// Many wait at one listener, some of them give up again and again, and each connection goes to
/// one.
fn check_storm(crowd: Crowd) {
    const MANY: usize = 300;
    let listener = Arc::new(ListenOptions::new().backlog(1_024).bind("127.0.0.1:0").unwrap());
    let addr = listener.local_addr().unwrap();
    let serve = |number: usize| {
        let listener =
            if number.is_multiple_of(5) { Arc::new(listener.try_clone().unwrap()) } else { listener.clone() };
        crowd.spawn(number, move || {
            let mut served = 0;
            loop {
                let later = Instant::now()
                    + Duration::from_micros(if number.is_multiple_of(3) { 200 } else { 1 << 40 });
                match fiber::with_deadline(later, || listener.accept()) {
                    Ok((stream, _)) => served += { &stream }.write(b"x").unwrap(),
                    Err(error) if error.kind() == ErrorKind::TimedOut => {}
                    Err(_) => return served,
                }
            }
        })
    };
    let servers: Vec<_> = (0..20).map(serve).collect();
    crowd.all(10, move |_| {
        for _ in 0..MANY / 10 {
            let mut text = String::new();
            TcpStream::connect(addr).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "x");
        }
    });
    listener.close();
    assert_eq!(servers.into_iter().map(|server| server.join()).sum::<usize>(), MANY);
}

alone! {
    fn many_accept_and_give_up() {
        in_few_crowds(check_storm);
    }

    fn a_connect_that_takes_long_is_given_up() {
        in_few_crowds(check_connects_that_take_long);
    }

    fn numbers_that_are_used_again_are_others() {
        everywhere_in(&[&[1], &[2]], check_numbers);
    }

    fn many_connections_are_killed_at_once() {
        pinned(1).run(|| kill(many()));
        migrating(2).run(|| kill(many()));
    }

    fn whoever_writes_too_much_waits() {
        in_few_crowds(check_pressure);
    }

    fn an_end_that_nobody_serves_is_waited_for() {
        in_few_crowds(check_half_open);
    }
}
