//! Requests that two readers may understand differently, and what the server must do with each.
//!
//! RFC 9112 decides. A request that it calls invalid is refused, and the connection is closed. An
//! unusual request that it calls valid is served. This is a table and knows no server: unit tests
//! send it without a network, and the tests of the program send it over a socket.

mod chunks;
mod fields;
mod lines;

/// A request to send, and the expected answer.
pub(crate) struct Case {
    pub(crate) what: &'static str,
    /// The request, and [`NEXT`] after it.
    pub(crate) sent: Vec<u8>,
    pub(crate) then: Then,
}

/// What the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Answers with this status and closes the connection. [`NEXT`] is not answered.
    Refuses(u16),
    /// Answers with this body, then answers [`NEXT`].
    Serves(&'static [u8]),
    /// Answers with this body and closes the connection. [`NEXT`] is not answered.
    ServesLast(&'static [u8]),
}

/// Follows each case. A reader that finds another end of the request does not see this one.
pub(crate) const NEXT: &[u8] = b"GET /echo?next HTTP/1.1\r\nHost: x\r\n\r\n";

/// The body of the answer to [`NEXT`].
pub(crate) const NEXT_BODY: &[u8] = b"next";

const BAD: Then = Then::Refuses(400);

/// Returns the whole table.
pub(crate) fn all() -> Vec<Case> {
    let case = |what, parts: &[&[u8]], then| Case { what, sent: [parts, &[NEXT]].concat().concat(), then };
    let lines = lines::CASES.iter().map(|&(what, head, then)| case(what, &[head], then));
    let fields = fields::CASES.iter().map(|&(what, fields, body, then)| {
        case(what, &[b"POST /echo HTTP/1.1\r\nHost: x\r\n", fields, b"\r\n", body], then)
    });
    let chunks = chunks::CASES.iter().map(|&(what, body, then)| {
        let head = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        case(what, &[head, body], then)
    });
    lines.chain(fields).chain(chunks).chain(long()).collect()
}

/// Cases that are too long to be written out. They are for a server that accepts heads of 512
/// bytes.
fn long() -> [Case; 9] {
    let case =
        |what, parts: &[&str], then| Case { what, sent: [parts.concat().as_bytes(), NEXT].concat(), then };
    let (head, chunked) = ("POST /echo HTTP/1.1\r\nHost: x\r\n", "Transfer-Encoding: chunked\r\n\r\n");
    let (zeros, fields) = (&*"0".repeat(200), &*"a:\r\n".repeat(100));
    let (hello, end) = ("5\r\nhello\r\n", "0\r\n\r\n");
    let extended = &*format!("1;a={zeros}\r\nx\r\n");
    let served = Then::Serves(b"hello");
    let large = Then::Refuses(431);
    [
        case("200 zeros before a length", &[head, "Content-Length: ", zeros, "5\r\n\r\nhello"], served),
        case("200 zeros before a size", &[head, chunked, zeros, hello, end], served),
        case("200 zeros for the last size", &[head, chunked, hello, zeros, end], served),
        case("400 zeros before a size", &[head, chunked, zeros, zeros, hello, end], BAD),
        case("extension of 400 bytes", &[head, chunked, "5;a=", zeros, zeros, "\r\nhello\r\n", end], BAD),
        case("extensions of 600 bytes in sum", &[head, chunked, extended, extended, extended, end], BAD),
        case(
            "trailers of 600 bytes",
            &[head, chunked, hello, "0\r\nT: ", zeros, zeros, zeros, "\r\n\r\n"],
            large,
        ),
        case("101 fields", &[head, fields, "\r\n"], large),
        case("101 trailers", &[head, chunked, hello, "0\r\nb:\r\n", fields, "\r\n"], large),
    ]
}
