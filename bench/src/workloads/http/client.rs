//! Clients that are not there for speed: one that makes sure that a server answers right before it is measured, and many that keep
//! a connection and are silent.

use super::server::Server;
use super::talk::{ANSWER, REQUEST};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks once, twice at once, and with a request in two pieces; then the server must close what the client has closed.
pub(super) fn check(port: u16) -> Result<(), String> {
    asked(port).map_err(|error| format!("the server does not answer right: {error}"))
}

fn asked(port: u16) -> io::Result<()> {
    let mut stream = connect(port)?;
    ask(&mut stream)?;
    stream.write_all(&REQUEST.repeat(2))?;
    expect(&mut stream, 2)?;
    let (one, other) = REQUEST.split_at(REQUEST.len() - 2);
    stream.write_all(one)?;
    // So that they come one after the other, most likely.
    thread::sleep(Duration::from_millis(5));
    stream.write_all(other)?;
    expect(&mut stream, 1)?;
    stream.shutdown(Shutdown::Write)?;
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("it says more than was asked")),
    }
}

/// Bytes of the server's memory that each of so many connections takes which have asked once.
pub(super) fn idle_bytes(server: &Server, connections: usize) -> Result<f64, String> {
    let (descriptors, before) = (server.descriptors(), server.memory());
    let connected = (0..connections).map(|_| {
        let mut stream = connect(server.port())?;
        ask(&mut stream)?;
        Ok(stream)
    });
    let open = connected.collect::<io::Result<Vec<_>>>();
    let open = open.map_err(|error| format!("a connection that is to be idle: {error}"))?;
    let held = server.memory() - before;
    drop(open);
    server.wait_for_descriptors(descriptors)?;
    Ok(held / connections as f64)
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn ask(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(REQUEST)?;
    expect(stream, 1)
}

/// Reads so many answers.
fn expect(stream: &mut TcpStream, answers: usize) -> io::Result<()> {
    let mut answer = [0; ANSWER.len()];
    for _ in 0..answers {
        stream.read_exact(&mut answer)?;
        if answer != *ANSWER {
            return Err(io::Error::other(format!("it said {:?}", String::from_utf8_lossy(&answer))));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::workloads::http::listener;
    use crate::workloads::http::stream::converse;
    use crate::workloads::http::talk::{ANSWER, REQUEST};
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::thread;

    /// What a server is told that serves one connection like this.
    fn checked(serve: fn(TcpStream)) -> Result<(), String> {
        let listener = listener::one();
        let port = listener::port(&listener);
        let server = thread::spawn(move || serve(listener.accept().expect("it comes").0));
        let result = check(port);
        server.join().expect("it does not panic");
        result
    }

    #[test]
    fn a_server_that_is_right_passes() {
        assert_eq!(checked(converse), Ok(()));
    }

    #[test]
    fn others_do_not() {
        let wrong = checked(|mut stream| {
            let mut request = [0; REQUEST.len()];
            stream.read_exact(&mut request).expect("it asks");
            stream.write_all(&ANSWER.to_ascii_lowercase()).expect("it listens");
        });
        assert!(wrong.unwrap_err().contains("hello, world"));
        assert!(checked(drop).is_err());
    }

    #[test]
    fn one_that_passes_over_the_second_of_a_pair_does_not() {
        let once = checked(|mut stream| {
            let mut request = [0; REQUEST.len()];
            stream.read_exact(&mut request).expect("it asks");
            stream.write_all(ANSWER).expect("it listens");
            stream.read_exact(&mut request.repeat(2)).expect("it asks twice");
            stream.write_all(ANSWER).expect("it listens");
        });
        assert!(once.is_err());
    }
}
