//! Answers: a status, a body, and whether the connection stays open. Knows no connection.

use std::io::Write;

/// The code and the reason phrase of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u16, pub(crate) &'static str);

impl Status {
    pub(crate) const OK: Self = Self(200, "OK");
    pub(crate) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(crate) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(crate) const METHOD_NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(crate) const TIMEOUT: Self = Self(408, "Request Timeout");
    pub(crate) const BODY_TOO_LARGE: Self = Self(413, "Content Too Large");
    pub(crate) const EXPECTATION_FAILED: Self = Self(417, "Expectation Failed");
    pub(crate) const HEADERS_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(crate) const NOT_IMPLEMENTED: Self = Self(501, "Not Implemented");
    pub(crate) const UNAVAILABLE: Self = Self(503, "Service Unavailable");
    pub(crate) const VERSION_NOT_SUPPORTED: Self = Self(505, "HTTP Version Not Supported");
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: Status,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn text(status: Status, body: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8".to_owned(), body: body.into().into_bytes() }
    }

    /// Returns an answer whose body is the reason phrase.
    pub(crate) fn bare(status: Status) -> Self {
        Self::text(status, format!("{}\n", status.1))
    }
}

/// How to send an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether to send the size of the body, but not the body.
    pub(crate) is_for_head: bool,
    /// Whether no more requests are served on the connection.
    pub(crate) closes: bool,
    /// Whether the client has to be told that the connection stays open, since it speaks HTTP/1.0.
    pub(crate) is_for_old: bool,
}

/// Appends an answer to the output.
pub(crate) fn write(out: &mut Vec<u8>, response: &Response, manner: Manner) {
    let Status(code, words) = response.status;
    let (kind, size) = (&response.content_type, response.body.len());
    // Writing to memory does not fail.
    let _ = write!(out, "HTTP/1.1 {code} {words}\r\nContent-Length: {size}\r\nContent-Type: {kind}\r\n");
    if response.status == Status::METHOD_NOT_ALLOWED {
        out.extend_from_slice(b"Allow: GET, HEAD, POST, PUT\r\n");
    }
    match manner {
        Manner { closes: true, .. } => out.extend_from_slice(b"Connection: close\r\n"),
        Manner { is_for_old: true, .. } => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        _ => {}
    }
    out.extend_from_slice(b"\r\n");
    if !manner.is_for_head {
        out.extend_from_slice(&response.body);
    }
}
