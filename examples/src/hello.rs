//! HTTP/1.1 by hand: each request is answered by a greeting. Connections stay open, and a client
//! may send requests without waiting for answers.
//!
//! ```sh
//! cargo run -p sinew-examples --bin hello -- 127.0.0.1:8080
//! curl -i http://127.0.0.1:8080/
//! ```
//!
//! It shows parsing by `httparse`, and limits on what a client may send and how long it may take: a
//! deadline for the whole head of a request, however many reads that takes. The second argument is
//! that time in milliseconds. `sinew serve` is a larger server of this kind.

use std::env;
use std::error::Error;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use sinew::fiber::{self, CancelToken};
use sinew::net::{Shutdown, TcpListener, TcpStream};
use sinew::signal::{self, Signal};
use sinew::time;

const LONGEST_HEAD: usize = 8 * 1_024;
const MOST_HEADERS: usize = 64;
/// How long a client may take to read its answers, and how long the shutdown may take.
const GRACE: Duration = Duration::from_secs(5);
const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";

fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let idle = env::args().nth(2).map_or(Ok(10_000), |millis| millis.parse())?;
    Ok(sinew::run(move || serve(&address, Duration::from_millis(idle)))?)
}

fn serve(address: &str, idle: Duration) -> io::Result<()> {
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = TcpListener::bind(address)?;
    let drain = CancelToken::new();
    println!("listening on {}", listener.local_addr()?);
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let mut served = 0;
            for (stream, _) in listener.connections() {
                served += 1;
                let mut client = Connection { stream, drain: &drain, idle, input: vec![], output: vec![] };
                scope.spawn(move || client.serve().ok());
            }
            served
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
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

struct Connection<'a> {
    stream: TcpStream,
    /// Cancelled when the server is to end.
    drain: &'a CancelToken,
    idle: Duration,
    input: Vec<u8>,
    /// Answers to the requests in the input. The input has a limit, so the answers have one.
    output: Vec<u8>,
}

impl Connection<'_> {
    fn serve(&mut self) -> io::Result<()> {
        // One deadline for a whole head: a client that sends a byte now and then gets no more time
        // than a silent one.
        let mut until = Instant::now() + self.idle;
        loop {
            match parse(&self.input) {
                Ok(None) if self.fill(until)? == 0 => return Ok(()),
                Ok(None) => {}
                Ok(Some((len, keeps_alive))) => {
                    self.input.drain(..len);
                    self.output.extend_from_slice(HELLO.as_bytes());
                    if !keeps_alive {
                        return self.finish();
                    }
                    until = Instant::now() + self.idle;
                }
                Err(status) => {
                    let end = "Content-Length: 0\r\nConnection: close";
                    write!(self.output, "HTTP/1.1 {status}\r\n{end}\r\n\r\n")?;
                    return self.finish();
                }
            }
        }
    }

    /// Reads more. Before that it sends the answers so far: the client may be waiting for them.
    fn fill(&mut self, until: Instant) -> io::Result<usize> {
        self.send()?;
        let mut room = [0; 4_096];
        let mut read = self.drain.run(|| fiber::with_deadline(until, || self.stream.read(&mut room)));
        if read.is_err() && self.drain.is_cancelled() {
            // The server ends. Bytes that have arrived can still be read, and after them the end.
            self.stream.shutdown(Shutdown::Read)?;
            read = self.stream.read(&mut room);
        }
        let len = read?;
        self.input.extend_from_slice(&room[..len]);
        Ok(len)
    }

    fn send(&mut self) -> io::Result<()> {
        time::timeout(GRACE, || self.stream.write_all(&self.output))?;
        self.output.clear();
        Ok(())
    }

    /// Sends the last answers. It reads what the client still sends: otherwise the kernel would
    /// reset the connection, and the client might miss the answers.
    fn finish(&mut self) -> io::Result<()> {
        self.send()?;
        self.stream.shutdown(Shutdown::Write)?;
        time::timeout(self.idle.min(GRACE), || io::copy(&mut self.stream, &mut io::sink()))?;
        Ok(())
    }
}

/// Returns how long the first request is, and whether more may follow it; none if it is not
/// complete; or the answer that refuses it.
fn parse(input: &[u8]) -> Result<Option<(usize, bool)>, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let len = match request.parse(input) {
        Ok(httparse::Status::Complete(len)) if len <= LONGEST_HEAD => len,
        Ok(httparse::Status::Partial) if input.len() < LONGEST_HEAD => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err("431 Request Header Fields Too Large"),
        Err(_) => return Err("400 Bad Request"),
    };
    let mut keeps_alive = request.version == Some(1);
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        // This server reads no bodies. To take a body for the next request would be a
        // vulnerability.
        if is("Transfer-Encoding") || (is("Content-Length") && header.value != b"0") {
            return Err("413 Content Too Large");
        }
        keeps_alive &= !(is("Connection") && header.value.eq_ignore_ascii_case(b"close"));
    }
    Ok(Some((len, keeps_alive)))
}
