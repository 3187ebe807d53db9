//! A second reader of requests, to compare the server's reader with.
//!
//! It is written from RFC 9110 and RFC 9112 alone, for all bytes of a connection at once, without
//! regard to speed. It shares no code with the server's reader, so that a mistake in one of them
//! shows as a difference. The text of a request is handled as characters U+0000 to U+00FF, one for
//! each byte.

mod chunks;
mod grammar;
mod head;

use self::head::Body;

/// The limits of the reader. Others are fixed: 100 fields, 100 trailers, 256 bytes in a chunk line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The most bytes of a head, of all trailers, and of all chunk extensions.
    pub(crate) head: usize,
    /// The most bytes of a body.
    pub(crate) body: usize,
}

const MOST_FIELDS: usize = 100;
const LONGEST_CHUNK_LINE: usize = 256;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) is_head: bool,
    pub(crate) body: Vec<u8>,
    /// The position of the first byte after it.
    pub(crate) end: usize,
    pub(crate) keeps_alive: bool,
}

/// How the requests of a connection end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// After a request, with the last byte.
    Clean,
    /// After a request that ends the connection.
    Closed,
    /// Within a request, with the last byte.
    Cut,
    /// With an invalid request.
    Refused,
}

/// Why there is no request at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Cut,
    Refused,
}

/// Reads all requests of a connection.
pub(crate) fn read(bytes: &[u8], rules: Rules) -> (Vec<Message>, End) {
    let mut messages: Vec<Message> = Vec::new();
    loop {
        let start = messages.last().map_or(0, |message| message.end);
        if messages.last().is_some_and(|message| !message.keeps_alive) {
            return (messages, End::Closed);
        }
        if start == bytes.len() {
            return (messages, End::Clean);
        }
        match message(bytes, start, rules) {
            Ok(message) => messages.push(message),
            Err(Fault::Cut) => return (messages, End::Cut),
            Err(Fault::Refused) => return (messages, End::Refused),
        }
    }
}

fn message(bytes: &[u8], start: usize, rules: Rules) -> Result<Message, Fault> {
    let skipped = if bytes[start..].starts_with(b"\r\n") { 2 } else { 0 };
    let (lines, len) = lines(&bytes[start + skipped..], rules.head - skipped)?;
    let head = head::parse(&lines).ok_or(Fault::Refused)?;
    let start = start + skipped + len;
    let (body, end) = match head.body {
        Body::Sized(size) if size > rules.body => return Err(Fault::Refused),
        Body::Sized(size) => (bytes.get(start..start + size).ok_or(Fault::Cut)?.to_vec(), start + size),
        Body::Chunked => chunks::read(bytes, start, rules)?,
    };
    Ok(Message { is_head: head.is_head, body, end, keeps_alive: head.keeps_alive })
}

/// Returns the lines before the first empty line, and the number of bytes up to its end, which must
/// not be greater than `most`.
fn lines(bytes: &[u8], most: usize) -> Result<(Vec<String>, usize), Fault> {
    let (mut lines, mut start) = (Vec::new(), 0);
    loop {
        let Some(len) = find_crlf(&bytes[start..]).filter(|len| start + len + 2 <= most) else {
            return Err(if bytes.len() < most { Fault::Cut } else { Fault::Refused });
        };
        let line = text(&bytes[start..start + len])?;
        start += len + 2;
        if line.is_empty() {
            return Ok((lines, start));
        }
        lines.push(line);
    }
}

fn find_crlf(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|two| two == b"\r\n")
}

/// Returns a line as text, if it has no control characters but tabs.
fn text(line: &[u8]) -> Result<String, Fault> {
    let is_bad = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 127;
    if line.iter().any(is_bad) {
        Err(Fault::Refused)
    } else {
        Ok(line.iter().copied().map(char::from).collect())
    }
}
