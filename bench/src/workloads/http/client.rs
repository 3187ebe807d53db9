//! Clients that need no speed: one checks that a server answers correctly before it is measured;
//! many keep a connection and are silent.

use super::server::Server;
use super::talk::{ANSWER, REQUEST};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks once, twice at once, and with a request in two pieces. Then the server must close the
/// connections that the client has closed.
pub(super) fn check(port: u16) -> Result<(), String> {
    asked(port).map_err(|error| format!("the server answers incorrectly: {error}"))
}

fn asked(port: u16) -> io::Result<()> {
    let mut stream = connect(port)?;
    ask(&mut stream)?;
    stream.write_all(&REQUEST.repeat(2))?;
    expect(&mut stream, 2)?;
    let (one, other) = REQUEST.split_at(REQUEST.len() - 2);
    stream.write_all(one)?;
    // Makes the two pieces arrive separately, most likely.
    thread::sleep(Duration::from_millis(5));
    stream.write_all(other)?;
    expect(&mut stream, 1)?;
    stream.shutdown(Shutdown::Write)?;
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("it answers more than was asked")),
    }
}

/// Returns the bytes of the server's memory for each of `connections` connections that have asked
/// once.
pub(super) fn idle_bytes(server: &Server, connections: usize) -> Result<f64, String> {
    let (descriptors, before) = (server.descriptors(), server.memory());
    let connected = (0..connections).map(|_| {
        let mut stream = connect(server.port())?;
        ask(&mut stream)?;
        Ok(stream)
    });
    let open = connected.collect::<io::Result<Vec<_>>>();
    let open = open.map_err(|error| format!("cannot open an idle connection: {error}"))?;
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

/// Reads this number of answers.
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

    /// Returns the error that the check reports for a server that serves one connection like this.
    fn checked(serve: fn(TcpStream)) -> Result<(), String> {
        let listener = listener::one();
        let port = listener::port(&listener);
        let server = thread::spawn(move || serve(listener.accept().expect("it comes").0));
        let result = check(port);
        server.join().expect("it does not panic");
        result
    }

    #[test]
    fn a_correct_server_passes() {
        assert_eq!(checked(converse), Ok(()));
    }

    #[test]
    fn an_incorrect_server_fails() {
        let wrong = checked(|mut stream| {
            let mut request = [0; REQUEST.len()];
            stream.read_exact(&mut request).expect("it asks");
            stream.write_all(&ANSWER.to_ascii_lowercase()).expect("it listens");
        });
        assert!(wrong.unwrap_err().contains("hello, world"));
        assert!(checked(drop).is_err());
    }

    #[test]
    fn a_server_that_skips_the_second_of_a_pair_fails() {
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
