//! The parts of a chunked body around its data: the line before a chunk, and trailers after the
//! last one (RFC 9112, section 7.1). Bytes in, values out: knows no connection.

use super::fields;
use super::lines::{Section, is_token_byte, section};
use super::request::MOST_FIELDS;
use super::response::Status;

/// The line before a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) size: u64,
    /// How many bytes of the line are extensions, which the server ignores.
    pub(crate) extensions: usize,
}

/// Parses the line before a chunk, without its CRLF.
///
/// # Errors
///
/// Returns an error if the line is malformed, or the size does not fit into 64 bits.
pub(crate) fn parse(line: &[u8]) -> Result<Chunk, Status> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (size, mut rest) = line.split_at(digits);
    let size = std::str::from_utf8(size).ok().and_then(|size| u64::from_str_radix(size, 16).ok());
    let chunk = Chunk { size: size.ok_or(Status::BAD_REQUEST)?, extensions: rest.len() };
    while !rest.is_empty() {
        rest = after_extension(rest).ok_or(Status::BAD_REQUEST)?;
    }
    Ok(chunk)
}

/// Returns what follows the extension that a text begins with: `;name`, `;name=value` or
/// `;name="value"`, with spaces and tabs before each part.
fn after_extension(text: &[u8]) -> Option<&[u8]> {
    let name = after_space(text).strip_prefix(b";")?;
    let rest = after_token(after_space(name))?;
    let Some(value) = after_space(rest).strip_prefix(b"=") else { return Some(rest) };
    let value = after_space(value);
    value.strip_prefix(b"\"").map_or_else(|| after_token(value), after_quoted)
}

fn after_space(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[len..]
}

fn after_token(text: &[u8]) -> Option<&[u8]> {
    let len = text.iter().take_while(|byte| is_token_byte(byte)).count();
    (len > 0).then(|| &text[len..])
}

/// Returns what follows the closing quotes. A line has no control characters but tabs, and all
/// others may be quoted.
fn after_quoted(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [] => return None,
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', _, rest @ ..] | [_, rest @ ..] => rest,
        }
    }
}

/// Returns the length of the trailers that the bytes begin with, the empty line after them
/// included, if all of them have arrived.
///
/// # Errors
///
/// Returns an error if the trailers are malformed, longer than `most`, or contain a field that
/// belongs in a head.
pub(crate) fn trailers(bytes: &[u8], most: usize) -> Result<Option<usize>, Status> {
    let bytes = &bytes[..bytes.len().min(most)];
    let section = section(bytes);
    let mut trailers = [httparse::EMPTY_HEADER; MOST_FIELDS];
    match (httparse::parse_headers(section.of(bytes), &mut trailers), section) {
        (Ok(httparse::Status::Complete((len, trailers))), Section::Whole(_)) => {
            check_names(trailers).map(|()| Some(len))
        }
        (Ok(_), Section::Part) if bytes.len() < most => Ok(None),
        (Ok(_), Section::Part) | (Err(httparse::Error::TooManyHeaders), _) => Err(Status::HEADERS_TOO_LARGE),
        _ => Err(Status::BAD_REQUEST),
    }
}

fn check_names(trailers: &[httparse::Header<'_>]) -> Result<(), Status> {
    let belongs_in_head = |name: &str| fields::READ.iter().any(|read| read.eq_ignore_ascii_case(name));
    let is_bad = trailers.iter().any(|trailer| belongs_in_head(trailer.name));
    if is_bad { Err(Status::BAD_REQUEST) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_hexadecimal_and_extensions_are_counted() {
        assert_eq!(parse(b"1aF"), Ok(Chunk { size: 0x1af, extensions: 0 }));
        assert_eq!(parse(b"00 ; name=value"), Ok(Chunk { size: 0, extensions: 13 }));
        assert_eq!(parse(b"1;a=\"\\\"\";b"), Ok(Chunk { size: 1, extensions: 9 }));
        for bad in [&b""[..], b"g", b"-1", b"0x10", b"1 1", b"1 ", b"1;", b"1;a=\"b", b"fffffffffffffffff"] {
            assert_eq!(parse(bad), Err(Status::BAD_REQUEST), "{bad:?}");
        }
    }

    #[test]
    fn trailers_have_a_limit() {
        assert_eq!(trailers(b"", 100), Ok(None));
        assert_eq!(trailers(b"\r\nmore", 100), Ok(Some(2)));
        assert_eq!(trailers(b"a: b\r\n\r\n\0", 100), Ok(Some(8)));
        assert_eq!(trailers(b"a: b\r\n\r\n", 8), Ok(Some(8)));
        assert_eq!(trailers(b"a: b\r\n\r\n", 7), Err(Status::HEADERS_TOO_LARGE));
        let many = format!("{}\r\n", "a: b\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(trailers(many.as_bytes(), 10_000), Err(Status::HEADERS_TOO_LARGE));
    }
}
