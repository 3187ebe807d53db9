//! Tests of the server that greets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::program::{PATIENCE, Program, connect, crowd};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";

fn serve() -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_hello"), &["127.0.0.1:0", "60000"])
}

fn expect_hello(stream: &mut TcpStream) {
    let mut answer = vec![0; HELLO.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), HELLO);
}

/// Returns the answers to these bytes until the connection ends.
fn answers(address: SocketAddr, sent: &[u8]) -> String {
    let (mut stream, mut answers) = (connect(address), String::new());
    stream.write_all(sent).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    stream.read_to_string(&mut answers).unwrap();
    answers
}

#[test]
fn many_clients_ask_again_and_again() {
    let (program, address) = serve();
    let before = program.descriptors();
    crowd(64, |_| {
        let mut stream = connect(address);
        for _ in 0..20 {
            stream.write_all(GET).unwrap();
            expect_hello(&mut stream);
        }
    });
    program.settle(before);
    program.quit("64 connections served");
}

#[test]
fn requests_may_come_all_at_once_or_in_pieces() {
    let (program, address) = serve();
    let many = 2_000;
    assert_eq!(answers(address, &GET.repeat(many)), HELLO.repeat(many));
    // In pieces of every size, so that a boundary may be anywhere; each piece is sent before the
    // next.
    let mut stream = connect(address);
    stream.set_nodelay(true).unwrap();
    for size in 1..=GET.len() + 1 {
        let three = GET.repeat(3);
        three.chunks(size).for_each(|piece| stream.write_all(piece).unwrap());
        (0..3).for_each(|_| expect_hello(&mut stream));
    }
    // An incomplete request is not answered, and keeps no answer back.
    stream.write_all(&[GET, &GET[..10]].concat()).unwrap();
    expect_hello(&mut stream);
    drop(stream);
    program.quit("2 connections served");
}

#[test]
fn connections_end_when_they_should() {
    let (program, address) = serve();
    for request in ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        assert_eq!(answers(address, request.repeat(2).as_bytes()), HELLO, "{request:?}");
    }
    program.quit("2 connections served");
}

#[test]
fn invalid_and_oversized_requests_are_refused() {
    let (program, address) = serve();
    // The last case is more than fits anywhere: a client that sends before it reads must not block
    // for ever.
    let cases = [
        ("\x16\x03\x01\x02\x00", "400"),
        ("GET / HTTP/3.0\r\n\r\n", "400"),
        ("GET /\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "413"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "413"),
        (&format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65)), "431"),
        (&format!("GET /{} HTTP/1.1\r\n", "x".repeat(20_000_000)), "431"),
    ];
    for (sent, status) in cases {
        let answer = answers(address, &[GET, sent.as_bytes()].concat());
        let refusal = answer.strip_prefix(HELLO).unwrap_or_else(|| panic!("{answer}"));
        assert!(refusal.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {refusal}");
        assert!(refusal.contains("Connection: close"), "{refusal}");
    }
    program.quit("7 connections served");
}

/// The server closes the connection of a client that is silent too long, or that has not sent a
/// whole request in time.
#[test]
fn slow_clients_are_disconnected() {
    let (program, address) = Program::serve(env!("CARGO_BIN_EXE_hello"), &["127.0.0.1:0", "2000"]);
    let before = program.descriptors();
    crowd(9, |number| {
        let mut stream = connect(address);
        match number % 3 {
            0 => {}
            1 => {
                stream.write_all(GET).unwrap();
                expect_hello(&mut stream);
            }
            _ => return expect_end_of_slow(&mut stream),
        }
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    });
    program.settle(before);
    program.quit("9 connections served");
}

/// A byte now and then gains no time. Otherwise there would be thousands of bytes, and a refusal.
fn expect_end_of_slow(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let until = Instant::now() + PATIENCE;
    loop {
        match stream.write_all(b"x").and_then(|()| stream.read(&mut [0])) {
            Ok(len) => break assert_eq!(len, 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // The connection was closed between two bytes.
            Err(_) => break,
        }
        assert!(Instant::now() < until, "it is waited for");
    }
}

#[test]
fn earlier_requests_are_answered_at_the_end() {
    let (program, address) = serve();
    let mut streams: Vec<_> = (0..32).map(|_| connect(address)).collect();
    for stream in &mut streams {
        stream.write_all(GET).unwrap();
        expect_hello(stream);
    }
    let more = [GET, &GET[..9]].concat();
    program.terminate_after(|| {
        streams.iter_mut().step_by(2).for_each(|stream| stream.write_all(&more).unwrap());
    });
    for (number, mut stream) in streams.into_iter().enumerate() {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, if number % 2 == 0 { HELLO } else { "" });
    }
    assert_eq!(program.end(), ["SIGTERM: ending", "32 connections served"]);
}
