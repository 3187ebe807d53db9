//! How connections and the server end.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::server::{Client, Server, request};

/// All clients send requests again and again while the server is told to end. Each request that was
/// sent is answered, and the last answer to each client says that the connection closes.
#[test]
fn no_request_is_lost_when_it_is_told_to_end_under_load() {
    for workers in ["1", "2"] {
        let mut server = Server::start(&["--workers", workers, "--linger-ms", "20000"]);
        let (answered, is_warm, address) = (AtomicU64::new(0), AtomicBool::new(false), server.address);
        // All clients are connected before the server is told to end.
        let clients = [(); 16].map(|()| Client::to(address));
        thread::scope(|scope| {
            let (answered, is_warm) = (&answered, &is_warm);
            for mut client in clients {
                scope.spawn(move || {
                    loop {
                        let answer = client.get("/");
                        assert_eq!((answer.status, answer.body.len()), (200, 13));
                        if answered.fetch_add(1, Ordering::Relaxed) == 1_000 {
                            is_warm.store(true, Ordering::Relaxed);
                        }
                        if answer.closes {
                            return;
                        }
                    }
                });
            }
            super::server::wait_until(|| is_warm.load(Ordering::Relaxed));
            server.terminate();
        });
        let ended = server.wait();
        assert!(ended.status.success(), "{}", ended.errors);
        let expected = format!("{} requests on 16 connections", answered.into_inner());
        assert!(ended.words.contains(&expected), "{expected}: {}", ended.words);
    }
}

/// A request that has begun is answered, if it takes no longer than the grace period.
#[test]
fn a_request_that_has_begun_is_answered() {
    let mut server = Server::start(&[]);
    let mut begun = server.connect();
    begun.send(request("/sleep?ms=300"));
    let mut half = server.connect();
    half.send("GET / HTTP/1.1\r\nHost");
    assert_eq!(server.connect().get("/").status, 200);
    server.terminate();
    half.send(": test\r\n\r\n");
    let answers = [half.answer().unwrap(), begun.answer().unwrap()];
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.closes), "{answers:?}");
    assert!(server.wait().status.success());
}

#[test]
fn a_request_that_takes_too_long_is_cut_off_and_reported() {
    let mut server = Server::start(&["--grace-ms", "50"]);
    let mut client = server.connect();
    client.send(request("/sleep?ms=60000"));
    assert_eq!(server.connect().get("/").status, 200);
    server.terminate();
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.errors.contains("1 connection was cut off"), "{}", ended.errors);
}

/// A user who does not want to wait sends the signal again.
#[test]
fn a_second_signal_ends_it_at_once() {
    let mut server = Server::start(&["--grace-ms", "60000"]);
    let mut client = server.connect();
    client.send(request("/sleep?ms=60000"));
    assert_eq!(server.connect().get("/").status, 200);
    server.terminate();
    server.signal();
    assert_eq!(server.wait().status.signal(), Some(15));
}

/// Answers that were sent count, however the connection ends: by a reset, by half a request, or by
/// the end of the server.
#[test]
fn answers_are_counted_on_connections_that_end_in_an_error() {
    let mut server = Server::start(&["--grace-ms", "50", "--request-ms", "600000"]);
    let before = server.descriptors();
    let [mut reset, mut half] = [server.connect(), server.connect()];
    for client in [&mut reset, &mut half] {
        assert_eq!(client.get("/").status, 200);
        client.send("GET / HT");
    }
    socket2::SockRef::from(&reset.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop((reset, half));
    server.wait_for_descriptors(before);
    let mut cut_off = server.connect();
    assert_eq!(cut_off.get("/").status, 200);
    cut_off.send(request("/sleep?ms=60000"));
    server.terminate();
    let ended = server.wait();
    assert!(ended.words.contains("3 requests on 3 connections, 0 turned away"), "{}", ended.words);
}

/// Resets connections in all their states.
#[test]
fn five_thousand_connections_killed_at_once_leave_nothing_behind() {
    const MANY: usize = 5_000;
    let server = Server::start(&["--workers", "2", "--request-ms", "600000", "--idle-ms", "600000"]);
    assert_eq!(server.connect().get("/").status, 200);
    let before = server.descriptors();
    let states = [
        "",
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: test\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nfive",
    ];
    let clients: Vec<Client> = (0..MANY)
        .map(|number| {
            let mut client = server.connect();
            client.send(states[number % states.len()]);
            client
        })
        .collect();
    super::server::wait_until(|| server.descriptors() >= MANY);
    for client in &clients {
        // Closing the connection resets it from now on.
        socket2::SockRef::from(&client.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }
    drop(clients);
    server.wait_for_descriptors(before);
    assert_eq!(server.connect().get("/").status, 200);
    server.end();
}
