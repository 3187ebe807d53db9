//! The answers of `sinew serve`.

use super::server::{Server, request};

#[test]
fn it_says_hello_echoes_and_sleeps() {
    let server = Server::start(&["--workers", "2"]);
    let mut client = server.connect();
    assert_eq!(client.get("/").body, b"Hello, World!");
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 11\r\n\r\nwhat it was");
    assert_eq!(client.answer().unwrap().body, b"what it was");
    assert_eq!(client.get("/sleep?ms=1").body, b"slept 1 ms\n");
    assert_eq!(client.get("/sleep?ms=60001").status, 400);
    assert_eq!(client.get("/nowhere").status, 404);
    let words = server.end().words;
    assert!(words.contains("5 requests on 1 connection, 0 turned away"), "{words}");
}

/// Clients of a proxy send whole URIs.
#[test]
fn a_target_may_name_the_server() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    let target = format!("http://{}/echo?whom", server.address);
    assert_eq!(client.get(&target).body, b"whom");
    assert_eq!(client.get("http://test").body, b"Hello, World!");
    server.end();
}

/// All requests at once, and one byte at a time.
#[test]
fn requests_come_in_any_pieces_and_are_answered_in_order() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    let many: String = (0..200).map(|number| request(&format!("/echo?{number}"))).collect();
    client.send(&many);
    for number in 0..200 {
        assert_eq!(client.answer().unwrap().body, number.to_string().into_bytes());
    }
    client.stream.set_nodelay(true).unwrap();
    request("/echo?slowly").bytes().for_each(|byte| client.send([byte]));
    client.half_close();
    assert_eq!(client.answer().unwrap().body, b"slowly", "a half-closed connection has its answer");
    assert!(client.answer().is_none());
    server.end();
}

/// The client sends the body only after the interim answer.
#[test]
fn a_client_that_expects_continue_gets_it_before_the_body() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    client.send("PUT /echo HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.answer().unwrap().status, 100);
    client.send("ok");
    assert_eq!(client.answer().unwrap().body, b"ok");
    server.end();
}

/// The kernel distributes connections among several sockets at one port.
#[test]
fn several_may_listen_at_one_port() {
    let server = Server::start(&["--listeners", "3", "--workers", "2"]);
    for _ in 0..50 {
        assert_eq!(server.connect().get("/").status, 200);
    }
    server.end();
}

#[test]
fn a_port_in_use_is_reported() {
    let server = Server::start(&[]);
    let address = server.address.to_string();
    let output = crate::sinew(&["serve", "--listen", &address]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains(&address) && errors.contains("in use"), "{errors}");
    for nonsense in ["nowhere", "127.0.0.1:99999", "256.0.0.1:80"] {
        let output = crate::sinew(&["serve", "--listen", nonsense]);
        assert_eq!(output.status.code(), Some(1), "{nonsense}");
    }
    server.end();
}
