//! The header fields that the server reads, and their values. Knows no connection.

use super::lines::{is_token, trim};
use super::request::Body;
use super::response::Status;
use super::target;

/// The fields that the server reads.
///
/// A trailer must not have one of these names: another reader may merge trailers into the head.
pub(crate) const READ: [&str; 6] =
    ["connection", "content-length", "content-type", "expect", "host", "transfer-encoding"];

/// The version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// HTTP/1.0.
    Old,
    /// HTTP/1.1.
    Current,
}

/// The header fields of a request.
pub(crate) struct Fields<'a>(pub(crate) &'a [httparse::Header<'a>]);

impl<'a> Fields<'a> {
    fn all(&self, name: &'static str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    }

    /// Returns the value of a field that must not be repeated: of two values, another reader may
    /// choose the other one.
    fn once(&self, name: &'static str) -> Result<Option<&'a [u8]>, Status> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(Status::BAD_REQUEST),
        }
    }

    /// Checks the host (RFC 9112, section 3.2).
    pub(crate) fn check_host(&self, version: Version) -> Result<(), Status> {
        match (self.once("host")?, version) {
            (Some(host), _) if target::is_host(host) => Ok(()),
            (None, Version::Old) => Ok(()),
            _ => Err(Status::BAD_REQUEST),
        }
    }

    pub(crate) fn content_type(&self) -> Result<Option<&'a str>, Status> {
        let text = self.once("content-type")?.map(std::str::from_utf8).transpose();
        text.map_err(|_| Status::BAD_REQUEST)
    }

    /// Returns how the end of the body is found (RFC 9112, section 6.3).
    pub(crate) fn body(&self, version: Version) -> Result<Body, Status> {
        match (self.once("transfer-encoding")?, self.once("content-length")?, version) {
            (None, None, _) => Ok(Body::Sized(0)),
            (None, Some(text), _) => size(text).map(Body::Sized),
            (Some(codings), None, Version::Current) => check_codings(codings).map(|()| Body::Chunked),
            // Readers that know no codings, or prefer the length, find another end.
            (Some(_), Some(_), _) | (Some(_), _, Version::Old) => Err(Status::BAD_REQUEST),
        }
    }

    /// Returns whether the client may send more requests (RFC 9112, section 9.3).
    pub(crate) fn keeps_alive(&self, version: Version) -> Result<bool, Status> {
        let (mut keeps, mut closes) = (version == Version::Current, false);
        let words = self.all("connection").flat_map(|text| text.split(|&byte| byte == b',')).map(trim);
        for word in words.filter(|word| !word.is_empty()) {
            if !is_token(word) {
                return Err(Status::BAD_REQUEST);
            }
            closes |= word.eq_ignore_ascii_case(b"close");
            keeps |= word.eq_ignore_ascii_case(b"keep-alive");
        }
        Ok(keeps && !closes)
    }

    /// Returns whether the client waits for an interim answer before it sends the body. A client of
    /// HTTP/1.0 never does (RFC 9110, section 10.1.1).
    pub(crate) fn expects_continue(&self, version: Version) -> Result<bool, Status> {
        match (self.once("expect")?, version) {
            (None, _) | (_, Version::Old) => Ok(false),
            (Some(text), _) if text.eq_ignore_ascii_case(b"100-continue") => Ok(true),
            _ => Err(Status::EXPECTATION_FAILED),
        }
    }
}

/// Parses a number of bytes: digits and nothing else.
fn size(text: &[u8]) -> Result<u64, Status> {
    let is_number = text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or(Status::BAD_REQUEST)
}

/// Checks that a body is chunked, and not coded otherwise (RFC 9112, section 6.1).
///
/// # Errors
///
/// Returns [`Status::NOT_IMPLEMENTED`] for other codings below the chunks, and
/// [`Status::BAD_REQUEST`] for all others: the end of such a body cannot be found.
fn check_codings(text: &[u8]) -> Result<(), Status> {
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    if is_chunked(text) {
        return Ok(());
    }
    let mut codings = text.rsplit(|&byte| byte == b',').map(trim);
    let is_last = codings.next().is_some_and(is_chunked);
    let others_are_valid = codings.all(|coding| is_token(coding) && !is_chunked(coding));
    Err(if is_last && others_are_valid { Status::NOT_IMPLEMENTED } else { Status::BAD_REQUEST })
}
