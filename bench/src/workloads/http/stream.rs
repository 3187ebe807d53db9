//! A server of connections that look blocking: one thread of control accepts, and each connection
//! has one of its own. The caller says what a thread of control is. Streams need only behave like
//! std's.

use super::talk::Talk;
use std::io::{self, ErrorKind, Read, Write};

/// Accepts for ever. `start` [serves](converse) each connection.
pub(super) fn serve<S>(accept: impl Fn() -> io::Result<S>, start: impl Fn(S)) -> ! {
    loop {
        match accept() {
            Ok(stream) => start(stream),
            // The client gave up before its turn came.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => panic!("cannot accept: {error}"),
        }
    }
}

/// Answers requests until the client closes the connection or it breaks. Clients do that at any
/// moment, so an error is a normal end.
pub(super) fn converse(mut stream: impl Read + Write) {
    let mut talk = Talk::new();
    while let Ok(bytes @ 1..) = stream.read(talk.room()) {
        let answers = talk.received(bytes);
        if !answers.is_empty() && stream.write_all(answers).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::converse;
    use crate::workloads::http::talk::ANSWER;
    use std::io::{self, Read, Write};

    /// A client that sends these pieces, and the bytes that it received.
    struct Script<'a> {
        pieces: Vec<&'a [u8]>,
        got: Vec<u8>,
    }

    impl Read for &mut Script<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.pieces.is_empty() {
                return Ok(0);
            }
            self.pieces.remove(0).read(buffer)
        }
    }

    impl Write for &mut Script<'_> {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            // Accept only a part of the bytes.
            self.got.write(&buffer[..buffer.len().min(30)])
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_request_is_answered_until_the_end() {
        let pieces: Vec<&[u8]> = vec![b"GET / HTTP/1.1\r\n\r", b"\n", b"a\r\n\r\nb\r\n\r\n", b"c"];
        let mut script = Script { pieces, got: Vec::new() };
        converse(&mut script);
        assert_eq!(script.got, ANSWER.repeat(3));
    }
}
