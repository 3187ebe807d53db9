//! Chunked bodies (RFC 9112, section 7.1).

use super::grammar::{field, is_token, number, trim};
use super::{Fault, LONGEST_CHUNK_LINE, MOST_FIELDS, Rules, find_crlf, lines, text};

/// Fields that the server reads in heads, and refuses in trailers.
const NOT_IN_TRAILERS: [&str; 6] =
    ["connection", "content-length", "content-type", "expect", "host", "transfer-encoding"];

/// Reads the body at a position. Returns it with the position of the first byte after it.
pub(super) fn read(bytes: &[u8], start: usize, rules: Rules) -> Result<(Vec<u8>, usize), Fault> {
    let (mut body, mut extensions, mut at) = (Vec::new(), 0, start);
    loop {
        let rest = &bytes[at..];
        let Some(len) = find_crlf(rest).filter(|&len| len <= LONGEST_CHUNK_LINE) else {
            return Err(if rest.len() < LONGEST_CHUNK_LINE + 2 { Fault::Cut } else { Fault::Refused });
        };
        let line = text(&rest[..len])?;
        let extension = line.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        let size = &line[..line.len() - extension.len()];
        let size = number(size, 16, rules.body - body.len()).ok_or(Fault::Refused)?;
        extensions += extension.chars().count();
        if !are_extensions(extension) || extensions > rules.head {
            return Err(Fault::Refused);
        }
        at += len + 2;
        if size == 0 {
            return trailers(bytes, at, rules).map(|end| (body, end));
        }
        body.extend_from_slice(bytes.get(at..at + size).ok_or(Fault::Cut)?);
        at += size;
        if bytes.get(at..at + 2).ok_or(Fault::Cut)? != b"\r\n" {
            return Err(Fault::Refused);
        }
        at += 2;
    }
}

/// Checks the trailers at a position. Returns the position of the first byte after them.
fn trailers(bytes: &[u8], start: usize, rules: Rules) -> Result<usize, Fault> {
    let (lines, len) = lines(&bytes[start..], rules.head)?;
    let is_trailer = |line: &String| field(line).is_some_and(|(name, _)| !NOT_IN_TRAILERS.contains(&&*name));
    let is_good = lines.len() <= MOST_FIELDS && lines.iter().all(is_trailer);
    if is_good { Ok(start + len) } else { Err(Fault::Refused) }
}

/// Section 7.1.1: `*( BWS ";" BWS name [ BWS "=" BWS value ] )`.
fn are_extensions(text: &str) -> bool {
    let Some(parts) = split_outside_quotes(text) else { return false };
    let (before, extensions) = (&parts[0], &parts[1..]);
    let Some((last, others)) = extensions.split_last() else { return before.is_empty() };
    // White space after an extension belongs to the next one, and there is none after the last.
    trim(before).is_empty()
        && others.iter().all(|extension| is_extension(trim(extension)))
        && is_extension(last.trim_start_matches([' ', '\t']))
}

fn is_extension(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else { return is_token(text) };
    let value = value.trim_start_matches([' ', '\t']);
    is_token(name.trim_end_matches([' ', '\t'])) && (is_token(value) || is_quoted(value))
}

/// Splits a text at semicolons. Those within quotes do not count. None, if quotes are left open.
fn split_outside_quotes(text: &str) -> Option<Vec<String>> {
    let (mut parts, mut in_quotes, mut is_escaped) = (vec![String::new()], false, false);
    for c in text.chars() {
        match c {
            ';' if !in_quotes => {
                parts.push(String::new());
                continue;
            }
            '"' if !is_escaped => in_quotes = !in_quotes,
            _ => {}
        }
        is_escaped = c == '\\' && in_quotes && !is_escaped;
        parts.last_mut()?.push(c);
    }
    (!in_quotes).then_some(parts)
}

/// RFC 9110, section 5.6.4: `quoted-string`. The first quotes that are not escaped end it.
fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return false };
    let unescaped = inner.replace("\\\\", "").replace("\\\"", "");
    // What is left of a backslash at the end would have escaped the last quotes.
    !unescaped.contains('"') && !unescaped.ends_with('\\')
}
