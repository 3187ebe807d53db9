//! Lines of a request, found strictly: a line ends with CRLF and contains no other control
//! character than a tab. Knows nothing of what a line means.
//!
//! Other readers accept a bare LF as the end of a line, or ignore a bare CR or a NUL, and then see
//! other lines than this server. Every function here depends only on the bytes up to the first
//! error, so that the result is the same however many bytes have arrived.

use super::response::Status;

/// How the lines at the start of a buffer end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// With an empty line. This many bytes belong to them, the empty line included.
    Whole(usize),
    /// With the buffer.
    Part,
    /// With a control character that no line may contain, after this many bytes.
    Broken(usize),
}

impl Section {
    /// Returns the bytes that it consists of. A CR at the end of a part is none of them: the next
    /// byte decides whether it ends a line or breaks it.
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        match self {
            Self::Whole(len) | Self::Broken(len) => &bytes[..len],
            Self::Part => bytes.strip_suffix(b"\r").unwrap_or(bytes),
        }
    }
}

/// Finds the lines up to the first empty line.
pub(crate) fn section(bytes: &[u8]) -> Section {
    let mut start = 0;
    loop {
        let line = &bytes[start..];
        match line.iter().position(is_control) {
            None => return Section::Part,
            Some(0) if line.starts_with(b"\r\n") => return Section::Whole(start + 2),
            Some(len) if line[len..].starts_with(b"\r\n") => start += len + 2,
            Some(len) if &line[len..] == b"\r" => return Section::Part,
            Some(len) => return Section::Broken(start + len),
        }
    }
}

/// Returns the length of the first line, without its CRLF, if all of it has arrived.
///
/// # Errors
///
/// Returns an error if the line is longer than `most`, or contains a control character.
pub(crate) fn line(bytes: &[u8], most: usize) -> Result<Option<usize>, Status> {
    let bytes = &bytes[..bytes.len().min(most + 2)];
    match bytes.iter().position(is_control) {
        None if bytes.len() <= most => Ok(None),
        Some(len) if bytes[len..].starts_with(b"\r\n") => Ok(Some(len)),
        Some(len) if &bytes[len..] == b"\r" && len <= most => Ok(None),
        _ => Err(Status::BAD_REQUEST),
    }
}

/// Removes spaces and tabs at both ends. Those of `str::trim` include characters that other readers
/// take for a part of the value.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// Returns whether a text is a token: a name, in the grammar of HTTP.
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(is_token_byte)
}

pub(crate) fn is_token_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn is_control(byte: &u8) -> bool {
    byte.is_ascii_control() && *byte != b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_with_an_empty_line() {
        let cases: [(&[u8], Section); 10] = [
            (b"", Section::Part),
            (b"\r", Section::Part),
            (b"\r\n", Section::Whole(2)),
            (b"a\tb\r\n\r", Section::Part),
            (b"a\r\n\r\nb\0", Section::Whole(5)),
            (b"a\r\nb\r\n\r\n\r\n", Section::Whole(8)),
            (b"a\nb\r\n\r\n", Section::Broken(1)),
            (b"a\r\nb\r\r\n\r\n", Section::Broken(4)),
            (b"a\r\n\n", Section::Broken(3)),
            (b"a\x7f", Section::Broken(1)),
        ];
        for (bytes, expected) in cases {
            assert_eq!(section(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_line_has_a_limit_and_no_control_characters() {
        assert_eq!(line(b"ab", 2), Ok(None));
        assert_eq!(line(b"ab\r", 2), Ok(None));
        assert_eq!(line(b"ab\r\n", 2), Ok(Some(2)));
        assert_eq!(line(b"\r\nab", 0), Ok(Some(0)));
        for bad in [&b"abc"[..], b"abc\r\n", b"a\n", b"a\rb", b"\0", b"a\r\r\n"] {
            assert_eq!(line(bad, 2), Err(Status::BAD_REQUEST), "{bad:?}");
        }
    }

    #[test]
    fn only_spaces_and_tabs_are_trimmed() {
        assert_eq!(trim(b" \ta b\t "), b"a b");
        assert_eq!(trim(b" \t"), b"");
        assert_eq!(trim(b"\x0ba\xa0"), b"\x0ba\xa0");
    }
}
