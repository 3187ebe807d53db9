//! Tests of WebSockets, by clients that run on plain threads.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};

use crate::program::{Program, connect, crowd};

const WEBSOCKET: &str = env!("CARGO_BIN_EXE_websocket");

fn serve() -> (Program, SocketAddr) {
    Program::serve(WEBSOCKET, &["serve", "127.0.0.1:0"])
}

fn client(address: SocketAddr) -> WebSocket<TcpStream> {
    tungstenite::client(format!("ws://{address}/"), connect(address)).unwrap().0
}

fn expect_echo(socket: &mut WebSocket<TcpStream>, message: Message) {
    socket.send(message.clone()).unwrap();
    assert!(socket.read().unwrap() == message, "that was no echo");
}

/// Reads the socket until the other side has closed it properly.
fn expect_end(socket: &mut WebSocket<TcpStream>) {
    loop {
        match socket.read() {
            Ok(_) => {}
            Err(error) => return assert!(matches!(error, Error::ConnectionClosed), "{error}"),
        }
    }
}

#[test]
fn many_clients_get_their_echo() {
    let (program, address) = serve();
    let before = program.descriptors();
    crowd(32, |number| {
        let mut socket = client(address);
        for len in [0, 1, 125, 126, 65_536] {
            expect_echo(&mut socket, Message::text("x".repeat(len)));
            expect_echo(&mut socket, Message::binary(vec![number as u8; len]));
        }
        socket.send(Message::Ping("are you there".into())).unwrap();
        assert_eq!(socket.read().unwrap(), Message::Pong("are you there".into()));
        socket.close(None).unwrap();
        expect_end(&mut socket);
    });
    program.settle(before);
    program.quit("32 connections served");
}

#[test]
fn the_program_prints_what_it_receives() {
    let (program, address) = serve();
    let address_text = address.to_string();
    let said = Program::start(WEBSOCKET, &["say", &address_text, "hello", "", "world"]);
    assert_eq!(said.end(), ["hello", "", "world"]);
    program.quit("1 connections served");
    let refused = Command::new(WEBSOCKET).args(["say", &address_text, "hello"]).output().unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty());
}

/// Bytes that are no handshake, half of one, an invalid frame or a message that is too large end
/// their own connection and no other.
#[test]
fn errors_end_only_their_own_connection() {
    let (program, address) = serve();
    let mut before_all = client(address);
    expect_echo(&mut before_all, Message::text("before"));
    let before = program.descriptors();
    crowd(24, |number| {
        let mut rest = Vec::new();
        match number % 6 {
            0 => {
                let mut stream = connect(address);
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
                stream.read_to_end(&mut rest).unwrap();
                assert!(
                    rest.starts_with(b"HTTP/1.1 400 ")
                        && rest.ends_with(b"\r\n\r\nthis is a WebSocket server\n")
                );
            }
            1 => connect(address).write_all(b"GET / HTTP/1.1\r\nUpgr").unwrap(),
            2 => {
                // Clients must mask what they send.
                let mut socket = client(address);
                socket.get_mut().write_all(b"\x81\x05hello").unwrap();
                assert!(matches!(socket.read(), Err(_) | Ok(Message::Close(_))));
            }
            3 => {
                let mut socket = client(address);
                // Where the server stops reading, it closes the connection: with a reset, since
                // more bytes are on their way.
                let _ = socket.send(Message::binary(vec![0; (1 << 20) + 1]));
                assert!(matches!(socket.read(), Err(_) | Ok(Message::Close(_))));
            }
            4 => client(address).get_mut().write_all(&[0x82, 0xFE, 0xFF]).unwrap(),
            _ => drop(connect(address)),
        }
    });
    program.settle(before);
    expect_echo(&mut before_all, Message::text("after"));
    drop(before_all);
    program.quit("25 connections served");
}

/// Clients get the reason of the end, and what they sent before is not lost.
#[test]
fn clients_are_told_of_the_end() {
    let (program, address) = serve();
    let mut sockets: Vec<_> = (0..16).map(|_| client(address)).collect();
    sockets.iter_mut().for_each(|socket| expect_echo(socket, Message::text("hello")));
    program.terminate();
    for mut socket in sockets {
        match socket.read().unwrap() {
            Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Away),
            other => panic!("{other:?} is no reason"),
        }
        expect_end(&mut socket);
    }
    assert_eq!(program.end(), ["SIGTERM: ending", "16 connections served"]);
}
