//! The head of a request, and what of it matters here. Bytes in, a value out: knows no connection.

use std::ops::Range;

use super::response::Status;

/// The most headers that a request may have.
const MOST_HEADERS: usize = 100;

/// A request, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// Without what is asked behind it.
    pub(crate) path: String,
    /// What is behind the question mark.
    pub(crate) query: Option<String>,
    pub(crate) body: Body,
    pub(crate) content_type: Option<String>,
    /// The client may send more requests on the same connection.
    pub(crate) keeps_alive: bool,
    /// The client is of the version before, whose connections end with the answer unless that says otherwise.
    pub(crate) is_old: bool,
    /// The client waits for a word before it sends the body.
    pub(crate) expects_continue: bool,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Put,
    Other,
}

/// How the body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// So many bytes.
    Sized(u64),
    /// In pieces, each with its size.
    Chunked,
}

/// What the bytes of a connection begin with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A head of so many bytes.
    Whole(Box<Head>, usize),
    /// Not all of one yet.
    Part,
}

/// Reads the head that the bytes begin with.
///
/// # Errors
///
/// If it is none, or one that is not served: the status to refuse it with.
pub(crate) fn parse(bytes: &[u8], most: usize) -> Result<Parsed, Status> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    // What is beyond the limit is not looked at: the answer does not depend on how much of it has come.
    let len = match request.parse(&bytes[..bytes.len().min(most)]) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) if bytes.len() < most => return Ok(Parsed::Part),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Status::HEADERS_TOO_LARGE);
        }
        Err(httparse::Error::Version) => return Err(Status::VERSION_NOT_SUPPORTED),
        Err(_) => return Err(Status::BAD_REQUEST),
    };
    Ok(Parsed::Whole(Box::new(head(&request)?), len))
}

fn head(request: &httparse::Request<'_, '_>) -> Result<Head, Status> {
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(Status::BAD_REQUEST);
    };
    let fields = Fields(request.headers);
    // A client of the current version has to say whom it means, once.
    if version == 1 && fields.all("host").count() != 1 {
        return Err(Status::BAD_REQUEST);
    }
    let (path, query) = split(target)?;
    Ok(Head {
        method: Method::named(method),
        path: path.to_owned(),
        query: query.map(str::to_owned),
        body: fields.body()?,
        content_type: fields.text("content-type")?.map(str::to_owned),
        keeps_alive: fields.keeps_alive(version)?,
        is_old: version == 0,
        expects_continue: version == 1 && fields.expects_continue()?,
    })
}

/// The path, and what is asked behind it.
///
/// # Errors
///
/// If it says whom it means, as one does to a proxy, and names nobody.
fn split(target: &str) -> Result<(&str, Option<&str>), Status> {
    let target = local(target)?;
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    Ok((if path.is_empty() { "/" } else { path }, query))
}

/// A target without what a client may put before it: `http://` and a host. Whoever is asked here is meant.
fn local(target: &str) -> Result<&str, Status> {
    let Some((_, rest)) = target.split_once("://").filter(|(scheme, _)| is_http(scheme)) else {
        return Ok(target);
    };
    match rest.find(['/', '?']).unwrap_or(rest.len()) {
        0 => Err(Status::BAD_REQUEST),
        end => Ok(&rest[end..]),
    }
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
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

/// The headers of a request.
struct Fields<'a>(&'a [httparse::Header<'a>]);

impl<'a> Fields<'a> {
    fn all(&self, name: &'static str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    }

    /// The last one of a name, as text.
    fn text(&self, name: &'static str) -> Result<Option<&'a str>, Status> {
        let text = self.all(name).last().map(std::str::from_utf8).transpose();
        text.map_err(|_| Status::BAD_REQUEST)
    }

    /// How the body comes. Whoever says it twice, and differently, may mean to have two servers read it differently.
    fn body(&self) -> Result<Body, Status> {
        let mut sizes = self.all("content-length").map(size);
        let sized = match sizes.next().transpose()? {
            Some(first) if sizes.all(|next| next == Ok(first)) => Some(first),
            Some(_) => return Err(Status::BAD_REQUEST),
            None => None,
        };
        match (self.text("transfer-encoding")?, sized) {
            (None, sized) => Ok(Body::Sized(sized.unwrap_or(0))),
            (Some(coding), None) if coding.trim().eq_ignore_ascii_case("chunked") => Ok(Body::Chunked),
            (Some(_), None) => Err(Status::NOT_IMPLEMENTED),
            (Some(_), Some(_)) => Err(Status::BAD_REQUEST),
        }
    }

    fn keeps_alive(&self, version: u8) -> Result<bool, Status> {
        let mut keeps = version == 1;
        for text in self.all("connection") {
            let text = std::str::from_utf8(text).map_err(|_| Status::BAD_REQUEST)?;
            for word in text.split(',').map(str::trim) {
                match word {
                    _ if word.eq_ignore_ascii_case("close") => return Ok(false),
                    _ if word.eq_ignore_ascii_case("keep-alive") => keeps = true,
                    _ => {}
                }
            }
        }
        Ok(keeps)
    }

    fn expects_continue(&self) -> Result<bool, Status> {
        match self.text("expect")? {
            None => Ok(false),
            Some(text) if text.trim().eq_ignore_ascii_case("100-continue") => Ok(true),
            Some(_) => Err(Status::EXPECTATION_FAILED),
        }
    }
}

/// A number of bytes, of digits and nothing else.
fn size(text: &[u8]) -> Result<u64, Status> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or(Status::BAD_REQUEST)
}

/// The size of a piece of a body, from the line before it. What is behind a semicolon is for others.
pub(crate) fn chunk_size(line: &[u8]) -> Result<u64, Status> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = line[digits..].trim_ascii_start();
    let text = std::str::from_utf8(&line[..digits]).ok().filter(|_| rest.is_empty() || rest[0] == b';');
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(Status::BAD_REQUEST)
}

/// Where the first line of these bytes is, and where the next one begins. A line ends with both characters.
pub(crate) fn line(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    Some((0..end, end + 2))
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

    /// As one asks a proxy.
    #[test]
    fn a_target_may_say_whom_it_means() {
        let cases = [
            ("http://x/echo?a=b", "/echo", Some("a=b")),
            ("HTTPS://x:80/a//b", "/a//b", None),
            ("http://x", "/", None),
            ("http://x?a/b", "/", Some("a/b")),
            ("/echo?http://x/", "/echo", Some("http://x/")),
            ("ftp://x/", "ftp://x/", None),
        ];
        for (target, path, query) in cases {
            let head = whole(&format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")).unwrap();
            assert_eq!((head.path.as_str(), head.query.as_deref()), (path, query), "{target}");
        }
        for nobody in ["http://", "http:///", "http://?"] {
            let text = format!("GET {nobody} HTTP/1.1\r\nHost: x\r\n\r\n");
            assert_eq!(whole(&text), Err(Status::BAD_REQUEST), "{nobody}");
        }
    }

    /// What two servers could read differently is refused.
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
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_HEADERS + 1));
        assert_eq!(parse(many.as_bytes(), 100_000), Err(Status::HEADERS_TOO_LARGE));
    }

    #[test]
    fn sizes_of_pieces_are_hexadecimal() {
        assert_eq!(chunk_size(b"1aF"), Ok(0x1af));
        assert_eq!(chunk_size(b"0 ; name=value"), Ok(0));
        for bad in [&b""[..], b"g", b"-1", b"0x10", b"1 1", b"fffffffffffffffff"] {
            assert_eq!(chunk_size(bad), Err(Status::BAD_REQUEST), "{bad:?}");
        }
    }
}
