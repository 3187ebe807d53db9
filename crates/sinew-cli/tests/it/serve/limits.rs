//! Limits: which requests and clients the server refuses, and that it continues after that.

use std::io::Write;

use super::server::{Client, Server, wait_until};

#[test]
fn what_is_too_large_or_malformed_is_refused() {
    let server = Server::start(&["--max-head", "200", "--max-body", "10"]);
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(300));
    let cases: [(&str, u16); 5] = [
        (&long, 431),
        ("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 11\r\n\r\n", 413),
        ("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n", 413),
        ("\u{1} no request\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ];
    for (sent, status) in cases {
        let mut client = server.connect();
        client.send(sent);
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, answer.closes), (status, true), "{sent:?}");
        assert!(client.answer().is_none());
    }
    assert_eq!(server.connect().get("/").status, 200);
    server.end();
}

/// A server that could serve no client does not start.
#[test]
fn limits_that_leave_nothing_are_refused() {
    for limit in ["--max-connections", "--max-head", "--workers", "--listeners", "--idle-ms"] {
        let output = crate::sinew(&["serve", "--listen", "nowhere", limit, "0"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{limit}: {errors}");
        assert!(errors.contains(limit), "{errors}");
    }
}

/// Neither bytes that arrive one by one and never end, nor silence, keep a connection open.
#[test]
fn a_slow_client_is_disconnected() {
    let server = Server::start(&["--request-ms", "50", "--idle-ms", "50"]);
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.send("GET / HTTP/1.1\r\nHost");
    assert_eq!(slow.answer().unwrap().status, 408);
    assert!(slow.answer().is_none());
    assert!(silent.answer().is_none(), "a silent client gets no answer");
    server.end();
}

/// A client that receives no answers does not stop others, and its connection ends.
#[test]
fn a_client_that_takes_no_answers_is_disconnected() {
    let server = Server::start(&["--write-ms", "100", "--workers", "1", "--max-body", "1000000"]);
    let before = server.descriptors();
    let mut deaf = server.connect();
    let body = vec![b'x'; 1_000_000];
    let head = format!("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", body.len());
    // Until the server does not receive them any more, or has ended the connection.
    while deaf.stream.write_all(head.as_bytes()).and_then(|()| deaf.stream.write_all(&body)).is_ok() {}
    assert_eq!(server.connect().get("/").status, 200);
    server.wait_for_descriptors(before);
    server.end();
}

#[test]
fn a_client_over_the_limit_is_turned_away_and_may_come_later() {
    let server = Server::start(&["--max-connections", "2"]);
    let mut inside = [server.connect(), server.connect()];
    inside.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    assert_eq!(server.connect().answer().unwrap().status, 503);
    drop(inside);
    wait_until(|| server.connect().get("/").status == 200);
    assert!(!server.end().words.contains(" 0 turned away"));
}

/// The server reports it once, continues when descriptors are free again, and loses no client that
/// waits.
#[test]
fn without_descriptors_it_waits_for_some() {
    let server = Server::start_with_descriptors(40, &["--workers", "1"]);
    let mut clients: Vec<Client> = (0..60).map(|_| server.connect()).collect();
    let mut late = clients.split_off(20);
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    late.iter_mut()
        .for_each(|client| client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"));
    drop(clients);
    late.iter_mut().for_each(|client| assert_eq!(client.answer().unwrap().status, 200));
    let errors = server.end().errors;
    assert!(errors.contains("descriptor") || errors.contains("open files"), "{errors:?}");
    assert_eq!(errors.lines().count(), 1, "{errors:?}");
}
