//! Connections without a network.

use super::script::{statuses, talk};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn requests_in_a_row_are_answered_in_order() {
    let two = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    let three = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: 1\r\n\r\n";
    let four = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let all = [GET, two, three, four, GET].concat();
    for piece in [1, 2, 7, 100, 10_000] {
        let (answers, served, _) = talk(&all, || piece);
        assert_eq!(statuses(&answers), [200, 200, 200, 404], "in pieces of {piece}");
        assert_eq!(served, 4, "what comes after the close is not served");
        let text = String::from_utf8(answers).unwrap();
        assert!(text.contains("Hello, World!") && text.contains("\r\n\r\nhello") && text.contains("abcde"));
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let cases: [(&str, u16); 7] = [
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", 413),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\n", 413),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        ("\x16\x03\x01", 400),
    ];
    for (sent, status) in cases {
        assert_eq!(statuses(&talk(sent.as_bytes(), || 3).0), [status], "{sent:?}");
    }
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(600));
    assert_eq!(statuses(&talk(long.as_bytes(), || 100).0), [431]);
}

/// An HTTP/1.0 client would wait for the end of the connection otherwise.
#[test]
fn an_old_client_that_asks_for_it_is_told_that_the_connection_stays() {
    let text = |sent: &[u8]| String::from_utf8(talk(sent, || 100).0).unwrap();
    let old = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    assert_eq!(text(&[&old[..], old].concat()).matches("Connection: keep-alive\r\n").count(), 2);
    assert!(text(b"GET / HTTP/1.0\r\n\r\n").contains("Connection: close\r\n"));
    assert!(!text(GET).contains("Connection:"));
}

/// A client that leaves in the middle of a request gets no answer.
#[test]
fn half_a_request_is_no_request() {
    for len in 1..GET.len() {
        assert_eq!(talk(&GET[..len], || 5), (Vec::new(), 0, false));
    }
}

/// Answers that were sent count, even if the connection then fails.
#[test]
fn answers_before_half_a_request_are_counted() {
    for piece in [1, 10_000] {
        let (answers, served, is_good) = talk(&[GET, GET, &GET[..9]].concat(), || piece);
        assert_eq!((statuses(&answers).len(), served, is_good), (2, 2, false));
    }
}
