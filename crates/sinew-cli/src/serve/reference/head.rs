//! Heads: the request line, and what fields say about the end of the body and of the connection.

use super::MOST_FIELDS;
use super::grammar::{authority, field, is_token, number, trim};

/// What a head says.
pub(super) struct Head {
    pub(super) is_head: bool,
    pub(super) body: Body,
    pub(super) keeps_alive: bool,
}

/// How the end of the body is found.
pub(super) enum Body {
    Sized(usize),
    Chunked,
}

/// Fields that may appear once at most.
const SINGLE: [&str; 5] = ["content-length", "content-type", "expect", "host", "transfer-encoding"];

/// The names, in lower case, and the values of all fields.
struct Fields<'a>(Vec<(String, &'a str)>);

/// Parses the lines of a head. None, if it is invalid.
pub(super) fn parse(lines: &[String]) -> Option<Head> {
    let (request_line, field_lines) = lines.split_first()?;
    let [method, target, version] = request_line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let is_old = version == "HTTP/1.0";
    if !is_token(method) || !is_target(method, target) || !(is_old || version == "HTTP/1.1") {
        return None;
    }
    let fields = Fields(field_lines.iter().map(|line| field(line)).collect::<Option<_>>()?);
    if !fields.are_valid(is_old) {
        return None;
    }
    Some(Head {
        is_head: method == "HEAD",
        body: fields.body(is_old)?,
        keeps_alive: !fields.has_option("close") && (!is_old || fields.has_option("keep-alive")),
    })
}

impl Fields<'_> {
    fn values(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|field| field.0 == name).map(|field| field.1).collect()
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values(name).first().copied()
    }

    fn are_valid(&self, is_old: bool) -> bool {
        let is_expected = |text: &str| is_old || text.eq_ignore_ascii_case("100-continue");
        // The server repeats the type in answers, and keeps it as a string.
        let is_utf8 = |text: &str| String::from_utf8(text.chars().map(|c| c as u8).collect()).is_ok();
        self.0.len() <= MOST_FIELDS
            && SINGLE.iter().all(|name| self.values(name).len() <= 1)
            && self.value("host").map_or(is_old, |host| authority(host).is_some())
            && self.value("expect").is_none_or(is_expected)
            && self.value("content-type").is_none_or(is_utf8)
            && self.options().iter().all(|option| option.is_empty() || is_token(option))
    }

    /// RFC 9112, section 6.3, without its leniency.
    fn body(&self, is_old: bool) -> Option<Body> {
        match (self.value("transfer-encoding"), self.value("content-length")) {
            (None, length) => number(length.unwrap_or("0"), 10, usize::MAX >> 8).map(Body::Sized),
            (Some(coding), None) if !is_old && coding.eq_ignore_ascii_case("chunked") => Some(Body::Chunked),
            (Some(_), _) => None,
        }
    }

    fn options(&self) -> Vec<&str> {
        self.values("connection").iter().flat_map(|value| value.split(',')).map(trim).collect()
    }

    fn has_option(&self, name: &str) -> bool {
        self.options().iter().any(|option| option.eq_ignore_ascii_case(name))
    }
}

/// RFC 9112, section 3.2: the four forms of a target.
fn is_target(method: &str, target: &str) -> bool {
    if target.chars().any(|c| !('!'..='~').contains(&c) || c == '#') {
        return false;
    }
    if method == "CONNECT" {
        let is_port = |port| number(port, 10, 65_535).is_some_and(|port| port > 0);
        return authority(target).is_some_and(|(host, port)| !host.is_empty() && is_port(port));
    }
    target.starts_with('/') || (target == "*" && method == "OPTIONS") || is_uri(target)
}

/// RFC 3986, section 4.3: an absolute URI. RFC 9110, section 4.2: one of HTTP has a host.
fn is_uri(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '-' || c == '.';
    if !scheme.chars().all(is_scheme_char) || !scheme.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
    {
        return false;
    }
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return true;
    }
    let Some(rest) = rest.strip_prefix("//") else { return false };
    let host = rest.split(['/', '?']).next().unwrap_or("");
    authority(host).is_some_and(|(host, _)| !host.is_empty())
}
