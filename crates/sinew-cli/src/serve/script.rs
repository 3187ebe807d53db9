//! A connection without a network: what a client sends, in whatever pieces, and what it is answered.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sinew::fiber::CancelToken;

use super::connection::{Connection, Stream};
use super::limits::Limits;

/// What a client sends, in pieces of these sizes, and what it is answered.
struct Script<'a> {
    sent: &'a [u8],
    pieces: Box<dyn FnMut() -> usize + 'a>,
    answers: &'a mut Vec<u8>,
}

impl Read for Script<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let len = (self.pieces)().clamp(1, room.len()).min(self.sent.len());
        room[..len].copy_from_slice(&self.sent[..len]);
        self.sent = &self.sent[len..];
        Ok(len)
    }
}

impl Write for Script<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = (self.pieces)().clamp(1, bytes.len());
        self.answers.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Script<'_> {
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Nobody waits for it.
    fn sleep(&self, _: Duration) {}
}

fn limits() -> Limits {
    let hour = Duration::from_secs(3_600);
    Limits {
        max_connections: 1,
        max_head: 512,
        max_body: 1_000,
        idle: hour,
        request: hour,
        write: hour,
        linger: hour,
        grace: hour,
    }
}

/// What is answered to these bytes, if they come in such pieces; how many requests were, and whether the connection ended in good order.
pub(crate) fn talk(sent: &[u8], pieces: impl FnMut() -> usize) -> (Vec<u8>, u64, bool) {
    let (mut answers, limits, drain, answered) =
        (Vec::new(), limits(), CancelToken::new(), AtomicU64::new(0));
    let script = Script { sent, pieces: Box::new(pieces), answers: &mut answers };
    let is_good = Connection::new(script, &limits, &drain, &answered).serve().is_ok();
    (answers, answered.into_inner(), is_good)
}

pub(crate) fn statuses(mut answers: &[u8]) -> Vec<u16> {
    let mut statuses = Vec::new();
    while !answers.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut response = httparse::Response::new(&mut headers);
        let len = response.parse(answers).expect("an answer is one").unwrap();
        let size = response.headers.iter().find(|header| header.name == "Content-Length");
        let size = size.map_or(0, |header| std::str::from_utf8(header.value).unwrap().parse().unwrap());
        statuses.push(response.code.unwrap());
        answers = &answers[len + size..];
    }
    statuses
}

/// Whatever comes, it ends, what is answered begins as an answer does, and it does not depend on the pieces that the requests came in.
pub(crate) fn answers_are_the_same_in_pieces(sent: &[u8], mut sizes: Dice) {
    let strip = |(answers, served, is_good): (Vec<u8>, u64, bool)| {
        let answers = String::from_utf8_lossy(&answers).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
        (answers, served, is_good)
    };
    let whole = strip(talk(sent, || usize::MAX));
    let pieces = strip(talk(sent, || sizes.below(20)));
    assert!(whole.0.is_empty() || whole.0.starts_with("HTTP/1.1 "), "{}", whole.0);
    assert_eq!(whole, pieces, "{:?}", String::from_utf8_lossy(sent));
}

/// Chance, by Marsaglia's xorshift.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}
