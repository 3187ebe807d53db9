//! WebSockets by `tungstenite` over sockets of fibers. Neither knows the other.
//!
//! ```sh
//! cargo run -p sinew-examples --bin websocket -- serve 127.0.0.1:9001
//! cargo run -p sinew-examples --bin websocket -- say 127.0.0.1:9001 hello world
//! ```
//!
//! The server echoes messages, each connection on a fiber of its own. When it ends, it tells its
//! clients that it goes away, and waits a little for their answer.

use std::env;
use std::error::Error;
use std::io::{Read, Write};
use std::time::Duration;

use sinew::fiber::{self, CancelToken};
use sinew::net::{TcpListener, TcpStream};
use sinew::signal::{self, Signal};
use sinew::time;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{HandshakeError, Message, WebSocket};

/// How long a handshake, an answer or the shutdown may take.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST_MESSAGE: usize = 1 << 20;

/// The answer to a request that asks for no WebSocket.
const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 27\r\nConnection: close\r\n\r\nthis is a WebSocket server\n";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    sinew::run(move || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => serve(address),
        ["say", address, ref words @ ..] => say(address, words),
        _ => Err("usage: websocket serve ADDRESS | websocket say ADDRESS WORDS...".into()),
    })
}

fn serve(address: &str) -> Result<(), Failure> {
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = TcpListener::bind(address)?;
    let drain = CancelToken::new();
    println!("listening on ws://{}", listener.local_addr()?);
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let mut served = 0;
            for (stream, _) in listener.connections() {
                served += 1;
                scope.spawn(|| echo(stream, &drain).ok());
            }
            served
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
        drop(signals);
        listener.close();
        drain.cancel_with_reason("the server ends");
        accepting.join().expect("accepting does not panic")
    });
    println!("{served} connections served");
    Ok(())
}

fn echo(stream: TcpStream, drain: &CancelToken) -> Result<(), Failure> {
    let mut socket = drain.run(|| time::timeout(PATIENCE, || accept(&stream)))?;
    loop {
        match drain.run(|| socket.read()) {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => {
                time::timeout(PATIENCE, || socket.send(message))?;
            }
            // The socket itself answers other messages, when it is read again.
            Ok(_) => {}
            // The interrupted read has lost nothing, and the connection still works.
            Err(_) if drain.is_cancelled() => break,
            Err(error) => return Err(error.into()),
        }
    }
    let reason = CloseFrame { code: CloseCode::Away, reason: "the server ends".into() };
    time::timeout(PATIENCE, || close(&mut socket, Some(reason)))
}

/// Shakes hands. A client that sends something else gets an answer. A client that is silent or gone
/// gets none.
fn accept(mut stream: &TcpStream) -> Result<WebSocket<&TcpStream>, Failure> {
    let limits = WebSocketConfig::default().max_message_size(Some(LARGEST_MESSAGE));
    tungstenite::accept_with_config(stream, Some(limits)).map_err(|error| {
        if !matches!(&error, HandshakeError::Failure(tungstenite::Error::Io(_))) {
            // The handshake has failed, whether this answer can be sent or not.
            let _ = stream.write_all(REFUSAL);
        }
        error.to_string().into()
    })
}

/// Announces the end of the connection, and waits until the other side has done the same.
fn close<S: Read + Write>(socket: &mut WebSocket<S>, reason: Option<CloseFrame>) -> Result<(), Failure> {
    socket.close(reason)?;
    loop {
        match socket.read() {
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn say(address: &str, words: &[&str]) -> Result<(), Failure> {
    let stream = TcpStream::connect(address)?;
    let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), stream)?;
    for word in words {
        socket.send(Message::text(*word))?;
        println!("{}", socket.read()?.to_text()?);
    }
    close(&mut socket, None)
}
