//! Rules of the grammars of HTTP and of URIs that heads and chunks share.

use std::net::Ipv6Addr;

/// Removes spaces and tabs at both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// RFC 9110, section 5.6.2: `token`.
pub(super) fn is_token(text: &str) -> bool {
    let is_tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_tchar)
}

/// RFC 9112, section 5: splits a field line into its name, in lower case, and its value.
pub(super) fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    is_token(name).then(|| (name.to_ascii_lowercase(), trim(value)))
}

/// Parses a number of any length in a radix. None, if it has other characters than digits, or is
/// greater than `most`.
pub(super) fn number(text: &str, radix: u32, most: usize) -> Option<usize> {
    let digits = text.chars().map(|c| c.to_digit(radix)).collect::<Option<Vec<u32>>>()?;
    let step = |sum: usize, digit: &u32| (sum * radix as usize + *digit as usize).min(most + 1);
    let sum = digits.iter().fold(0, step);
    (!digits.is_empty() && sum <= most).then_some(sum)
}

/// RFC 3986, section 3.2: splits an authority without a user into its host and its port.
pub(super) fn authority(text: &str) -> Option<(&str, &str)> {
    let host_end = match text.find(']') {
        Some(end) => end + 1,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at(host_end);
    let port = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
    (is_host(host) && port.chars().all(|c| c.is_ascii_digit())).then_some((host, port))
}

/// RFC 3986, section 3.2.2: an IPv6 address in brackets, or a name.
fn is_host(host: &str) -> bool {
    if host.contains(['[', ']']) {
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let mut parts = host.split('%');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c);
    // After each percent sign, two characters that are hexadecimal digits, and therefore plain.
    let is_encoded = |part: &str| part.len() >= 2 && part.chars().take(2).all(|c| c.is_ascii_hexdigit());
    parts.clone().all(|part| part.chars().all(is_plain)) && parts.by_ref().skip(1).all(is_encoded)
}
