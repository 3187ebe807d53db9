//! Tests of the echo server.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::process::Command;

use crate::program::{Program, connect, crowd};

fn serve() -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_echo"), &["127.0.0.1:0"])
}

#[test]
fn many_clients_get_their_echo() {
    let (program, address) = serve();
    let before = program.descriptors();
    crowd(64, |number| {
        let (mut stream, text) = (connect(address), vec![number as u8; 10_000]);
        for _ in 0..10 {
            stream.write_all(&text).unwrap();
            let mut echo = vec![0; text.len()];
            stream.read_exact(&mut echo).unwrap();
            assert_eq!(echo, text);
        }
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it ends when its client does");
    });
    program.settle(before);
    program.quit("64 connections served");
}

/// Clients that disconnect at any moment do not affect others.
#[test]
fn clients_may_disconnect() {
    let (program, address) = serve();
    let before = program.descriptors();
    crowd(64, |number| {
        let mut stream = connect(address);
        // A client that leaves bytes unread resets the connection.
        match number % 3 {
            0 => {
                stream.set_nonblocking(true).unwrap();
                while stream.write(&[0; 65_536]).is_ok() {}
            }
            1 => {
                stream.write_all(b"a").unwrap();
                stream.peek(&mut [0]).unwrap();
            }
            _ => {}
        }
    });
    program.settle(before);
    let mut stream = connect(address);
    stream.write_all(b"still there").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut echo = String::new();
    stream.read_to_string(&mut echo).unwrap();
    assert_eq!(echo, "still there");
    program.quit("65 connections served");
}

/// At the end, a connected client gets all that was sent before, and then the end.
#[test]
fn nothing_is_lost_at_the_end() {
    let (program, address) = serve();
    let mut streams: Vec<_> = (0..32).map(|_| connect(address)).collect();
    for stream in &mut streams {
        stream.write_all(b"a").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
    program.terminate_after(|| streams.iter_mut().for_each(|stream| stream.write_all(b"the rest").unwrap()));
    for mut stream in streams {
        let mut echo = String::new();
        stream.read_to_string(&mut echo).unwrap();
        assert_eq!(echo, "the rest");
    }
    assert_eq!(program.end(), ["SIGTERM: ending", "32 connections served"]);
}

#[test]
fn an_address_in_use_is_an_error() {
    let (program, address) = serve();
    let second = Command::new(env!("CARGO_BIN_EXE_echo")).arg(address.to_string()).output().unwrap();
    assert!(!second.status.success() && second.stdout.is_empty());
    assert!(String::from_utf8_lossy(&second.stderr).contains("AddrInUse"), "{second:?}");
    program.quit("0 connections served");
}
