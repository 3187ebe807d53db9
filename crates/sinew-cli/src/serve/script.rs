//! A connection without a network: a client that sends given bytes, in pieces of given sizes.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sinew::fiber::CancelToken;

use super::connection::{Connection, Fault, Stream};
use super::limits::Limits;
use super::reference::{End, Message};
use super::request::Method;

/// A stream that reads from a script and records what is written.
struct Script<'a> {
    /// The bytes that were not read yet.
    sent: &'a Cell<&'a [u8]>,
    /// Returns the size of the next piece to read or write.
    pieces: Box<dyn FnMut() -> usize + 'a>,
    answers: &'a mut Vec<u8>,
}

impl Read for Script<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let sent = self.sent.get();
        let len = (self.pieces)().clamp(1, room.len()).min(sent.len());
        room[..len].copy_from_slice(&sent[..len]);
        self.sent.set(&sent[len..]);
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

    /// Returns at once.
    fn sleep(&self, _: Duration) {}
}

/// The limits of scripted connections. No time limit ends one of them.
pub(crate) fn limits() -> Limits {
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

/// Serves a connection. Returns the bytes of the answers, the number of requests that were served,
/// and whether the connection ended without an error.
pub(crate) fn talk(sent: &[u8], pieces: impl FnMut() -> usize) -> (Vec<u8>, u64, bool) {
    let (mut answers, limits, drain, answered) =
        (Vec::new(), limits(), CancelToken::new(), AtomicU64::new(0));
    let sent = Cell::new(sent);
    let script = Script { sent: &sent, pieces: Box::new(pieces), answers: &mut answers };
    let is_good = Connection::new(script, &limits, &drain, &answered).serve().is_ok();
    (answers, answered.into_inner(), is_good)
}

/// Reads the requests of a connection without answering them. Returns them with what ended them.
pub(crate) fn requests(sent: &[u8], pieces: impl FnMut() -> usize) -> (Vec<Message>, End) {
    let (mut answers, limits, drain, answered) =
        (Vec::new(), limits(), CancelToken::new(), AtomicU64::new(0));
    let (len, sent) = (sent.len(), Cell::new(sent));
    let script = Script { sent: &sent, pieces: Box::new(pieces), answers: &mut answers };
    let mut connection = Connection::new(script, &limits, &drain, &answered);
    let mut messages = Vec::new();
    loop {
        match connection.read_request() {
            Ok((head, body)) => {
                let end = len - sent.get().len() - connection.rest().len();
                let (is_head, keeps_alive) = (head.method == Method::Head, head.keeps_alive);
                messages.push(Message { is_head, body, end, keeps_alive });
                if !keeps_alive {
                    return (messages, End::Closed);
                }
            }
            Err(Fault::Over) => return (messages, End::Clean),
            Err(Fault::Io(_)) => return (messages, End::Cut),
            Err(Fault::Refused(_)) => return (messages, End::Refused),
        }
    }
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) closes: bool,
    pub(crate) body: Vec<u8>,
}

/// Splits the bytes of a connection into answers, without those that only say to continue.
/// `is_head` returns whether the answer at an index has no body, as it answers a HEAD request.
pub(crate) fn answers(mut bytes: &[u8], is_head: impl Fn(usize) -> bool) -> Vec<Answer> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut response = httparse::Response::new(&mut headers);
        let len = response.parse(bytes).expect("a well-formed answer").unwrap();
        let field =
            |name| response.headers.iter().find(|header| header.name == name).map(|header| header.value);
        let size =
            field("Content-Length").map_or(0, |size| std::str::from_utf8(size).unwrap().parse().unwrap());
        let size = if is_head(answers.len()) { 0 } else { size };
        let (status, closes) = (response.code.unwrap(), field("Connection") == Some(b"close"));
        if status != 100 {
            answers.push(Answer { status, closes, body: bytes[len..len + size].to_vec() });
        }
        bytes = &bytes[len + size..];
    }
    answers
}

/// Returns the statuses of answers to requests other than HEAD.
pub(crate) fn statuses(bytes: &[u8]) -> Vec<u16> {
    answers(bytes, |_| false).iter().map(|answer| answer.status).collect()
}

/// Random numbers, by Marsaglia's xorshift.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}
