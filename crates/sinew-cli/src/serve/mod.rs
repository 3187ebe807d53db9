//! `sinew serve`: a small HTTP server that uses only the public API of the library. Each connection
//! has a fiber with plain blocking code.

#[cfg(any(test, fuzzing))]
pub(crate) mod agreement;
#[cfg(test)]
mod cases;
mod chunk;
#[cfg(test)]
mod comparison;
mod connection;
mod crowd;
mod fields;
mod limits;
mod lines;
#[cfg(any(test, fuzzing))]
mod reference;
mod request;
mod response;
mod routes;
#[cfg(any(test, fuzzing))]
pub(crate) mod script;
#[cfg(test)]
mod strictness;
#[cfg(test)]
mod talks;
mod target;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use sinew::fiber::{self, CancelToken};
use sinew::net::{ListenOptions, SocketAddr, TcpListener, TcpStream};
use sinew::signal::{self, Signal};

use self::connection::Connection;
use self::crowd::Crowd;
use self::limits::Limits;

/// Serves HTTP/1.1: `/` answers with a greeting, `/echo` repeats the request's body, `/sleep?ms=N`
/// answers after N milliseconds. SIGTERM or SIGINT shuts the server down: it answers the requests
/// that have begun. A second signal ends it at once.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// The address to listen at; port 0 takes any free port.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// Workers of the runtime; one for each CPU, if not given.
    #[arg(long, value_parser = limits::at_least_one)]
    workers: Option<usize>,
    /// Sockets that listen at the same port; the kernel distributes connections among them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    listeners: u16,
    #[command(flatten)]
    limits: Limits,
}

/// What all connections share.
struct Server {
    limits: Limits,
    crowd: Arc<Crowd>,
    /// Cancelled when the server shuts down.
    drain: CancelToken,
}

/// Serves until a signal ends it.
///
/// # Errors
///
/// Returns an error if the server cannot start, or has cut connections off at its end.
pub(crate) fn run(options: Options) -> io::Result<()> {
    let mut builder = sinew::Runtime::builder().name("sinew-serve");
    if let Some(workers) = options.workers {
        builder = builder.workers(workers);
    }
    let runtime = builder.start().map_err(io::Error::other)?;
    runtime.run(move || serve(options))
}

fn serve(options: Options) -> io::Result<()> {
    // Before the address is printed, so that no client or script can send a signal earlier.
    let quit = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listeners = listen(&options)?;
    let address = listeners[0].local_addr()?;
    let crowd = Crowd::new(options.limits.max_connections);
    let server = Arc::new(Server { limits: options.limits, crowd, drain: CancelToken::new() });
    for listener in &listeners {
        let (listener, server) = (listener.clone(), server.clone());
        fiber::spawn(move || accept(&listener, &server));
    }
    say(format_args!("listening on http://{address}"));
    let signal = quit.recv().map_err(io::Error::other)?;
    // From now on the signals have their default action: a second one ends the process at once.
    drop(quit);
    listeners.iter().for_each(|listener| finish(listener, &server));
    server.drain.cancel_with_reason("the server ends");
    say(format_args!("{signal}: answering the requests that have begun"));
    end(&server)
}

/// Returns all listeners, which listen at the same port.
fn listen(options: &Options) -> io::Result<Vec<Arc<TcpListener>>> {
    let many = ListenOptions::new().reuse_port(options.listeners > 1);
    let explain = |error: io::Error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => "",
            _ => " (give HOST:PORT, such as 127.0.0.1:8080)",
        };
        io::Error::new(error.kind(), format!("cannot listen at {}: {error}{hint}", options.listen))
    };
    let first = many.bind(options.listen.as_str()).map_err(explain)?;
    let address: SocketAddr = first.local_addr()?;
    let others = (1..options.listeners).map(|_| many.bind(address).map_err(explain));
    std::iter::once(Ok(first)).chain(others).map(|listener| listener.map(Arc::new)).collect()
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    for (stream, _) in listener.connections() {
        welcome(stream, server);
    }
}

/// Spawns a fiber for a connection.
fn welcome(stream: TcpStream, server: &Arc<Server>) {
    let server = server.clone();
    fiber::spawn(move || {
        // Holding a small answer back to send it with more would only delay it. If the option
        // cannot be set, answers are just slower.
        let _ = stream.set_nodelay(true);
        let member = server.crowd.enter();
        let connection = Connection::new(stream, &server.limits, &server.drain, &server.crowd.answered);
        let served = if member.is_some() { connection.serve() } else { connection.turn_away() };
        // A client that is gone, or does not take its answers, is not reported.
        drop(served);
        // After the last answer was counted.
        drop(member);
    });
}

/// Accepts the clients that have connected already, and closes the listener.
fn finish(listener: &TcpListener, server: &Arc<Server>) {
    let until = Instant::now() + server.limits.linger;
    let mut goes_on = listener.set_nonblocking(true).is_ok();
    while goes_on {
        match listener.accept() {
            Ok((stream, _)) => welcome(stream, server),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => goes_on = false,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Descriptors may be free again soon.
            Err(_) => {
                fiber::sleep(Duration::from_millis(1));
                goes_on = Instant::now() < until;
            }
        }
    }
    listener.close();
}

/// Waits for the connections that are being served. Those that take too long are cut off, since the
/// process ends.
fn end(server: &Server) -> io::Result<()> {
    let counts = server.crowd.wait_until_empty(server.limits.grace);
    let requests = many(server.crowd.answered.load(Ordering::Relaxed), "request");
    let (connections, refused) = (many(counts.admitted, "connection"), counts.refused);
    say(format_args!("{requests} on {connections}, {refused} turned away"));
    match counts.now {
        0 => Ok(()),
        1 => Err(io::Error::other("1 connection was cut off: it took too long")),
        left => Err(io::Error::other(format!("{left} connections were cut off: they took too long"))),
    }
}

/// Returns a number with its noun.
fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Prints a line for the user. The server continues if its output is closed.
fn say(words: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{words}");
}
