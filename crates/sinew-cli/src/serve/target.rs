//! The target of a request, and the host that a target or a `Host` field names. Knows no request.

use std::net::Ipv6Addr;

use super::response::Status;

/// Splits a target into its path and its query. The target of a method other than CONNECT is a
/// path, a URI, or, for OPTIONS, an asterisk.
///
/// # Errors
///
/// Returns an error if the target does not have the form that the method requires, or names an
/// invalid host.
pub(crate) fn split<'a>(method: &str, target: &'a str) -> Result<(&'a str, Option<&'a str>), Status> {
    // RFC 3986 excludes more characters, such as `|` and `{`, which browsers send all the same.
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(Status::BAD_REQUEST);
    }
    let local = match (method, target) {
        ("CONNECT", _) if is_endpoint(target) => return Ok((target, None)),
        ("CONNECT", _) => return Err(Status::BAD_REQUEST),
        ("OPTIONS", "*") => target,
        _ if target.starts_with('/') => target,
        _ => local(target)?,
    };
    let (path, query) = match local.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (local, None),
    };
    Ok((if path.is_empty() { "/" } else { path }, query))
}

/// Returns the path and the query of a URI. The host of an HTTP URI must be valid and is ignored:
/// this server has one host. A URI of another scheme is returned as it is.
fn local(uri: &str) -> Result<&str, Status> {
    let (scheme, rest) =
        uri.split_once(':').filter(|(name, _)| is_scheme(name)).ok_or(Status::BAD_REQUEST)?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Ok(uri);
    }
    let rest = rest.strip_prefix("//").ok_or(Status::BAD_REQUEST)?;
    let (host, local) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if is_host(host.as_bytes()) && !host.is_empty() && !host.starts_with(':') {
        Ok(local)
    } else {
        Err(Status::BAD_REQUEST)
    }
}

fn is_scheme(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns whether a text is a host with a port other than 0.
fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_port =
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    is_port && !host.is_empty() && is_host(text.as_bytes())
}

/// Returns whether a text is a valid value of `Host`: a name or an address, which may be empty, and
/// a port, if there is a colon.
pub(crate) fn is_host(text: &[u8]) -> bool {
    let (host_is_valid, rest) = match text.strip_prefix(b"[") {
        Some(literal) => {
            let end = literal.iter().position(|&byte| byte == b']').unwrap_or(literal.len());
            (is_address(&literal[..end]), literal.get(end + 1..))
        }
        None => {
            let end = text.iter().position(|&byte| byte == b':').unwrap_or(text.len());
            (is_name(&text[..end]), Some(&text[end..]))
        }
    };
    let is_port =
        |rest: &[u8]| matches!(rest, [] | [b':', ..]) && rest.iter().skip(1).all(u8::is_ascii_digit);
    host_is_valid && rest.is_some_and(is_port)
}

fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

fn is_name(mut name: &[u8]) -> bool {
    loop {
        name = match name {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [byte, rest @ ..] if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) => rest,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_split_into_path_and_query() {
        let cases = [
            ("/", "/", None),
            ("/a?b?c", "/a", Some("b?c")),
            ("/?", "/", Some("")),
            ("http://x/echo?a=b", "/echo", Some("a=b")),
            ("HTTPS://x:80/a//b", "/a//b", None),
            ("http://x", "/", None),
            ("http://x?a/b", "/", Some("a/b")),
            ("/echo?http://x/", "/echo", Some("http://x/")),
            ("ftp://x/", "ftp://x/", None),
        ];
        for (target, path, query) in cases {
            assert_eq!(split("GET", target), Ok((path, query)), "{target}");
        }
        for bad in ["", "*", "a", "?a", "http://", "http:///", "http://?", "/ä", "/ ", "/#"] {
            assert_eq!(split("GET", bad), Err(Status::BAD_REQUEST), "{bad}");
        }
        assert_eq!(split("OPTIONS", "*"), Ok(("*", None)));
        assert_eq!(split("CONNECT", "[::1]:80"), Ok(("[::1]:80", None)));
        for bad in ["/", "x", "x:", ":80", "x:+1", "::1:80", "x:65536", "x:00"] {
            assert_eq!(split("CONNECT", bad), Err(Status::BAD_REQUEST), "{bad}");
        }
    }

    #[test]
    fn a_host_is_a_name_or_an_address() {
        for host in ["", "x", "x.example:80", "1.2.3.4:", ":", "a%2fb", "[::1]", "[::ffff:1.2.3.4]:80"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for bad in
            ["a b", "a@b", "a/b", "a:b", "a:1:2", "%2", "%2g", "[]", "[::1", "[::1]1", "[x]", "::1", "ä"]
        {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }
}
