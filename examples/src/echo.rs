//! A TCP echo server: a fiber for each connection, and plain blocking code in it.
//!
//! ```sh
//! cargo run -p sinew-examples --bin echo -- 127.0.0.1:7007
//! nc 127.0.0.1 7007
//! ```
//!
//! SIGTERM and Ctrl-C shut it down gracefully: it accepts no new client, echoes what has arrived by
//! then, and disconnects clients that do not take it within a while. A second Ctrl-C ends it at
//! once.

use std::env;
use std::io::{self, Read, Write};
use std::time::Duration;

use sinew::fiber::{self, CancelToken};
use sinew::net::{Shutdown, TcpListener, TcpStream};
use sinew::signal::{self, Signal};
use sinew::time;

/// How long the shutdown may take.
const GRACE: Duration = Duration::from_secs(5);

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7007".to_owned());
    sinew::run(move || serve(&address))
}

fn serve(address: &str) -> io::Result<()> {
    // Before any client can connect: a signal that comes now is handled.
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = TcpListener::bind(address)?;
    let drain = CancelToken::new();
    println!("listening on {}", listener.local_addr()?);
    // When the scope returns, all its fibers have ended.
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let mut served = 0;
            for (stream, _) in listener.connections() {
                served += 1;
                // Clients may disconnect at any moment. That is no error to report.
                scope.spawn(|| echo(stream, &drain).ok());
            }
            served
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
        // From here on the signals have their default effect: the next one ends the process.
        drop(signals);
        listener.close();
        drain.cancel_with_reason("the server ends");
        let late = scope.token();
        time::after(GRACE, move || late.cancel_with_reason("it took too long")).detach();
        accepting.join().expect("accepting does not panic")
    });
    println!("{served} connections served");
    Ok(())
}

fn echo(mut stream: TcpStream, drain: &CancelToken) -> io::Result<()> {
    let mut room = [0; 4_096];
    loop {
        // When the server ends, it stops waiting for more bytes. It does not stop echoing.
        match drain.run(|| stream.read(&mut room)) {
            Ok(0) => return Ok(()),
            Ok(len) => stream.write_all(&room[..len])?,
            Err(_) if drain.is_cancelled() => break,
            Err(error) => return Err(error),
        }
    }
    // Bytes that have arrived can still be read, and after them the end.
    stream.shutdown(Shutdown::Read)?;
    io::copy(&mut &stream, &mut &stream)?;
    Ok(())
}
