//! TLS by `rustls` over sockets of fibers. Neither knows the other: [`StreamOwned`] takes any type
//! that implements `Read` and `Write`.
//!
//! ```sh
//! cargo run -p sinew-examples --bin tls -- serve 127.0.0.1:8443
//! cargo run -p sinew-examples --bin tls -- ask 127.0.0.1:8443 hello 100
//! ```
//!
//! The server echoes. The client opens a number of connections at once, each in a fiber, and checks
//! the answers. The certificate in `pem/` was made for `localhost` and signed by its own key. That
//! key is public here: use it for nothing else.

use std::env;
use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sinew::fiber::{self, CancelToken};
use sinew::net::{TcpListener, TcpStream};
use sinew::signal::{self, Signal};
use sinew::time;

/// How long a handshake, an answer or the shutdown may take.
const PATIENCE: Duration = Duration::from_secs(10);

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    sinew::run(move || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => serve(address),
        ["ask", address, text] => ask(address, text, 1),
        ["ask", address, text, times] => ask(address, text, times.parse()?),
        _ => Err("usage: tls serve ADDRESS | tls ask ADDRESS TEXT [TIMES]".into()),
    })
}

fn certificate() -> Result<CertificateDer<'static>, Failure> {
    Ok(CertificateDer::from_pem_slice(include_bytes!("../pem/certificate.pem"))?)
}

fn serve(address: &str) -> Result<(), Failure> {
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../pem/key.pem"))?;
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate()?], key)?;
    let config = Arc::new(config);
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = TcpListener::bind(address)?;
    let drain = CancelToken::new();
    println!("listening on {}", listener.local_addr()?);
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let mut served = 0;
            for (socket, _) in listener.connections() {
                served += 1;
                let config = config.clone();
                scope.spawn(|| echo(socket, config, &drain).ok());
            }
            served
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
        drop(signals);
        listener.close();
        drain.cancel_with_reason("the server ends");
        accepting.join().expect("accepting does not panic")
    });
    println!("{served} connections served");
    Ok(())
}

fn echo(socket: TcpStream, config: Arc<ServerConfig>, drain: &CancelToken) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, socket);
    // Reading would shake hands too, but this limits the time of a silent client.
    drain.run(|| time::timeout(PATIENCE, || stream.conn.complete_io(&mut stream.sock)))?;
    let mut room = [0; 4_096];
    loop {
        let len = match drain.run(|| stream.read(&mut room)) {
            Ok(0) => break,
            // The interrupted read has lost nothing, and the connection still works: close it
            // properly.
            Err(_) if drain.is_cancelled() => break,
            read => read?,
        };
        time::timeout(PATIENCE, || stream.write_all(&room[..len]).and_then(|()| stream.flush()))?;
    }
    stream.conn.send_close_notify();
    time::timeout(PATIENCE, || stream.flush())
}

fn ask(address: &str, text: &str, times: usize) -> Result<(), Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()?)?;
    let config = Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    // If one connection fails or times out, the others need not continue.
    let patience = Duration::from_secs(60);
    let bytes: usize = time::timeout(patience, || {
        fiber::try_scope(|scope| {
            let ask = |_| scope.spawn(|| ask_once(address, text, config.clone()));
            let asked: Vec<_> = (0..times).map(ask).collect();
            asked
                .into_iter()
                .map(|fiber| fiber.join().expect("asking does not panic"))
                .sum::<io::Result<usize>>()
        })
    })?;
    println!("{times} connections have echoed {bytes} bytes");
    Ok(())
}

fn ask_once(address: &str, text: &str, config: Arc<ClientConfig>) -> io::Result<usize> {
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address)?);
    stream.write_all(text.as_bytes())?;
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    // This succeeds only if the server has closed the connection properly.
    stream.read_to_end(&mut answer)?;
    if answer == text.as_bytes() { Ok(answer.len()) } else { Err(io::Error::other("that was no echo")) }
}
