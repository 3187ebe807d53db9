//! The head of a request. Bytes in, a value out: knows no connection.

use super::fields::{Fields, Version};
use super::lines::{Section, section};
use super::response::Status;
use super::target;

/// The most header fields that a request may have, and the most trailers.
pub(crate) const MOST_FIELDS: usize = 100;

/// A request, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// What follows the question mark of the target.
    pub(crate) query: Option<String>,
    pub(crate) body: Body,
    pub(crate) content_type: Option<String>,
    /// Whether the client may send more requests on the same connection.
    pub(crate) keeps_alive: bool,
    /// Whether the client speaks HTTP/1.0, where a connection ends with the answer unless the
    /// answer says otherwise.
    pub(crate) is_old: bool,
    /// Whether the client waits for an interim answer before it sends the body.
    pub(crate) expects_continue: bool,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Put,
    Other,
}

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// The body has this many bytes.
    Sized(u64),
    /// The body comes in chunks, each with its size.
    Chunked,
}

/// What the bytes of a connection begin with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A head of this many bytes.
    Whole(Box<Head>, usize),
    /// A part of a head.
    Part,
}

/// Parses the head that the bytes begin with. An empty line before it is ignored (RFC 9112, section
/// 2.2).
///
/// # Errors
///
/// Returns the status of the refusal if the head is invalid, or is larger than `most`, or requires
/// a feature that is not implemented.
pub(crate) fn parse(bytes: &[u8], most: usize) -> Result<Parsed, Status> {
    // The result must not depend on how much has arrived beyond the limit, or beyond an error.
    let bytes = &bytes[..bytes.len().min(most)];
    let text = bytes.strip_prefix(b"\r\n").unwrap_or(bytes);
    let (skipped, section) = (bytes.len() - text.len(), section(text));
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match (request.parse(section.of(text)), section) {
        (Ok(httparse::Status::Complete(len)), Section::Whole(_)) => {
            Ok(Parsed::Whole(Box::new(head(&request)?), skipped + len))
        }
        (Ok(_), Section::Part) if bytes.len() < most => Ok(Parsed::Part),
        (Ok(_), Section::Part) | (Err(httparse::Error::TooManyHeaders), _) => Err(Status::HEADERS_TOO_LARGE),
        (Err(httparse::Error::Version), _) if is_http(&request, text) => Err(Status::VERSION_NOT_SUPPORTED),
        _ => Err(Status::BAD_REQUEST),
    }
}

/// Returns whether the third word of a request line is a version of HTTP, and not anything else.
fn is_http(request: &httparse::Request<'_, '_>, text: &[u8]) -> bool {
    let len = |word: Option<&str>| word.map_or(0, |word| word.len() + 1);
    text[len(request.method) + len(request.path)..].starts_with(b"HTTP/")
}

fn head(request: &httparse::Request<'_, '_>) -> Result<Head, Status> {
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(Status::BAD_REQUEST);
    };
    let version = if version == 0 { Version::Old } else { Version::Current };
    let fields = Fields(request.headers);
    fields.check_host(version)?;
    let (path, query) = target::split(method, target)?;
    Ok(Head {
        method: Method::named(method),
        path: path.to_owned(),
        query: query.map(str::to_owned),
        body: fields.body(version)?,
        content_type: fields.content_type()?.map(str::to_owned),
        keeps_alive: fields.keeps_alive(version)?,
        is_old: version == Version::Old,
        expects_continue: fields.expects_continue(version)?,
    })
}

impl Method {
    fn named(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Result<Head, Status> {
        match parse(text.as_bytes(), 8_192)? {
            Parsed::Whole(head, len) => {
                assert_eq!(len, text.len());
                Ok(*head)
            }
            Parsed::Part => panic!("all of it is there: {text:?}"),
        }
    }

    fn with(headers: &str) -> Result<Head, Status> {
        whole(&format!("POST /a?b=c HTTP/1.1\r\nHost: x\r\n{headers}\r\n"))
    }

    #[test]
    fn what_matters_of_a_head_is_read() {
        let head = with("Content-Length: 3\r\nContent-Type: text/plain\r\nExpect: 100-Continue\r\n").unwrap();
        assert_eq!((head.path.as_str(), head.query.as_deref()), ("/a", Some("b=c")));
        assert_eq!((head.method, head.body), (Method::Post, Body::Sized(3)));
        assert_eq!(head.content_type.as_deref(), Some("text/plain"));
        assert!(head.keeps_alive && head.expects_continue);
        assert_eq!(with("Transfer-Encoding: chunked\r\n").unwrap().body, Body::Chunked);
        assert!(!with("Connection: upgrade, Close\r\n").unwrap().keeps_alive);
        assert!(!whole("GET / HTTP/1.0\r\n\r\n").unwrap().keeps_alive);
        assert!(whole("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").unwrap().keeps_alive);
    }

    /// The statuses of refusals. The table of cases has many more of them.
    #[test]
    fn what_is_ambiguous_is_refused() {
        let bad = [
            "Content-Length: 3\r\nContent-Length: 4\r\n",
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: +3\r\n",
            "Content-Length: 3, 3\r\n",
            "Content-Length: \r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length : 3\r\n",
            "Host: y\r\n",
        ];
        for headers in bad {
            assert_eq!(with(headers), Err(Status::BAD_REQUEST), "{headers:?}");
        }
        assert_eq!(whole("GET / HTTP/1.1\r\n\r\n"), Err(Status::BAD_REQUEST), "no host");
        assert_eq!(with("Transfer-Encoding: gzip, chunked\r\n"), Err(Status::NOT_IMPLEMENTED));
        assert_eq!(with("Expect: miracles\r\n"), Err(Status::EXPECTATION_FAILED));
        assert_eq!(whole("GET / HTTP/2.0\r\n\r\n"), Err(Status::VERSION_NOT_SUPPORTED));
    }

    #[test]
    fn a_head_has_a_limit() {
        let text = format!("GET / HTTP/1.1\r\nHost: {}", "x".repeat(200));
        assert_eq!(parse(text.as_bytes(), 1_000), Ok(Parsed::Part));
        assert_eq!(parse(text.as_bytes(), 100), Err(Status::HEADERS_TOO_LARGE));
        let whole = format!("{text}\r\n\r\n");
        assert_eq!(parse(whole.as_bytes(), 100), Err(Status::HEADERS_TOO_LARGE));
        let bad_beyond = format!("{text}\0");
        assert_eq!(parse(bad_beyond.as_bytes(), 100), Err(Status::HEADERS_TOO_LARGE));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(parse(many.as_bytes(), 100_000), Err(Status::HEADERS_TOO_LARGE));
    }
}
