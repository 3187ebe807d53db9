//! A TCP echo server: a fiber for each connection, and plain blocking code in it.
//!
//! ```sh
//! cargo run -p sinew-examples --bin echo -- 127.0.0.1:7007
//! nc 127.0.0.1 7007
//! ```
//!
//! SIGTERM and Ctrl-C end it in good order: nobody new is let in, what has come by then is echoed, and whoever does not take that is cut off
//! after a while. A second Ctrl-C ends it at once.

use std::env;
use std::io::{self, Read, Write};
use std::time::Duration;

use sinew::fiber::{self, CancelToken};
use sinew::net::{Shutdown, TcpListener, TcpStream};
use sinew::signal::{self, Signal};
use sinew::time;

/// How long the end may take.
const GRACE: Duration = Duration::from_secs(5);

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7007".to_owned());
    sinew::run(move || serve(&address))
}

fn serve(address: &str) -> io::Result<()> {
    // Before anybody can know that there is a server to be ended.
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = TcpListener::bind(address)?;
    let drain = CancelToken::new();
    println!("listening on {}", listener.local_addr()?);
    // All fibers that are made in the scope have ended when it returns.
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let mut served = 0;
            for (stream, _) in listener.connections() {
                served += 1;
                // A client that is gone in the middle of something is no reason to say so.
                scope.spawn(|| echo(stream, &drain).ok());
            }
            served
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
        // From here on they do what they would do without us: the next one ends the process.
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
        // Waiting for more is given up when the server ends. Echoing is not.
        match drain.run(|| stream.read(&mut room)) {
            Ok(0) => return Ok(()),
            Ok(len) => stream.write_all(&room[..len])?,
            Err(_) if drain.is_cancelled() => break,
            Err(error) => return Err(error),
        }
    }
    // What has come is there to be read still, and after it the end.
    stream.shutdown(Shutdown::Read)?;
    io::copy(&mut &stream, &mut &stream)?;
    Ok(())
}
