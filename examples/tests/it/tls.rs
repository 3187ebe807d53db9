//! Tests of TLS, by clients that run on plain threads.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::program::{Program, connect, crowd};

const TLS: &str = env!("CARGO_BIN_EXE_tls");

type Stream = StreamOwned<ClientConnection, TcpStream>;

fn serve() -> (Program, SocketAddr) {
    Program::serve(TLS, &["serve", "127.0.0.1:0"])
}

/// Returns a client configuration that trusts these certificates.
fn config(certificates: &[CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    assert_eq!(roots.add_parsable_certificates(certificates.iter().cloned()), (certificates.len(), 0));
    Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(include_bytes!("../../pem/certificate.pem")).unwrap()
}

fn client(address: SocketAddr, config: &Arc<ClientConfig>) -> Stream {
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), connect(address))
}

fn expect_echo(stream: &mut Stream, text: &[u8]) {
    stream.write_all(text).unwrap();
    let mut echo = vec![0; text.len()];
    stream.read_exact(&mut echo).unwrap();
    assert!(echo == text, "that was no echo");
}

#[test]
fn many_clients_get_their_echo() {
    let (program, address) = serve();
    let (before, config) = (program.descriptors(), config(&[certificate()]));
    crowd(32, |number| {
        let mut stream = client(address, &config);
        // From one byte to several records.
        for len in [1, 100, 5_000, 40_000] {
            expect_echo(&mut stream, &vec![number as u8; len]);
        }
        stream.conn.send_close_notify();
        stream.flush().unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the server has ended it too, and has said so");
    });
    program.settle(before);
    program.quit("32 connections served");
}

/// The client of the example, which also has a fiber for each connection.
#[test]
fn the_program_asks_many_times_at_once() {
    let (program, address) = serve();
    let (before, address_text) = (program.descriptors(), address.to_string());
    let asked = Program::start(TLS, &["ask", &address_text, "hello", "100"]);
    assert_eq!(asked.end(), ["100 connections have echoed 500 bytes"]);
    program.settle(before);
    program.quit("100 connections served");
    let refused = Command::new(TLS).args(["ask", &address_text, "hello"]).output().unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty());
}

/// Bytes that are no handshake, half of one, or one with a client that does not trust the server,
/// end their own connection and no other.
#[test]
fn errors_end_only_their_own_connection() {
    let (program, address) = serve();
    let (config, stranger) = (config(&[certificate()]), config(&[]));
    let mut before_all = client(address, &config);
    expect_echo(&mut before_all, b"before");
    let before = program.descriptors();
    crowd(24, |number| match number % 4 {
        0 => {
            let mut stream = connect(address);
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let mut alert = Vec::new();
            let ended = stream.read_to_end(&mut alert);
            // Unread bytes make the end a reset. The alert comes before it.
            assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
            assert_eq!(alert.first(), Some(&21), "an alert: {alert:?}");
        }
        1 => {
            let mut stream = client(address, &stranger);
            assert_eq!(
                stream.write_all(b"hello").and_then(|()| stream.flush()).unwrap_err().kind(),
                ErrorKind::InvalidData
            );
        }
        2 => connect(address).write_all(&[22, 3, 1, 2, 0, 1]).unwrap(),
        _ => {
            let mut stream = client(address, &config);
            expect_echo(&mut stream, b"hello");
            // Half a record, and then the client disconnects.
            stream.sock.write_all(&[23, 3, 3, 1, 0, 7, 7]).unwrap();
        }
    });
    program.settle(before);
    expect_echo(&mut before_all, b"after");
    drop(before_all);
    program.quit("25 connections served");
}

/// The server closes connections properly: clients can tell that nothing was cut off.
#[test]
fn clients_are_told_of_the_end() {
    let (program, address) = serve();
    let config = config(&[certificate()]);
    let mut streams: Vec<_> = (0..16).map(|_| client(address, &config)).collect();
    streams.iter_mut().for_each(|stream| expect_echo(stream, b"hello"));
    program.terminate();
    for mut stream in streams {
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    assert_eq!(program.end(), ["SIGTERM: ending", "16 connections served"]);
}
