//! A server with thousands of connections, in a process of its own, and a client for each of them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew::net::{ListenOptions, SocketAddr, TcpStream};
use sinew::sync::{Latch, Semaphore};
use sinew::{Runtime, fiber};

use crate::machine::limits;
use crate::output::text::{counted, grouped, time};
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{Failure, check};
use crate::stage::role;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "server",
    title: "Thousands of connections",
    about: "A server on loopback, in a second process, with a fiber for each connection; and as many clients, each of them a fiber too.",
    guide: "sockets-and-files.md",
    share: 16,
    run,
};

/// The part of the second process.
pub(super) const SERVE: &str = "server";

/// Descriptors that runtimes, pipes and the terminal may still need.
const SPARE_DESCRIPTORS: u64 = 24;

/// Clients that connect at the same time: fewer than any listener lets wait.
const CONNECTING: usize = 100;

/// Requests that are under way at the same time.
const IN_FLIGHT: usize = 32;

/// Serves until standard input ends, that is, as long as the tour wants it to.
pub(super) fn serve() -> io::Result<()> {
    let runtime = runtime("server").map_err(io::Error::other)?;
    runtime.run(|| {
        let listener = ListenOptions::new().backlog(4_096).bind("127.0.0.1:0")?;
        println!("{}", listener.local_addr()?);
        fiber::spawn(move || {
            for (stream, _) in listener.connections() {
                fiber::spawn(|| answer(stream));
            }
        });
        io::copy(&mut sinew::io::stdin(), &mut io::sink())?;
        Ok(())
    })
}

/// Answers each number with its successor, as long as the client is there.
fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut number = [0; 8];
    loop {
        stream.read_exact(&mut number)?;
        let successor = u64::from_le_bytes(number).wrapping_add(1);
        stream.write_all(&successor.to_le_bytes())?;
    }
}

/// What all clients share.
struct Visit {
    server: SocketAddr,
    connecting: Semaphore,
    /// Open once all clients are connected.
    connected: Latch,
    asking: Semaphore,
    time: Duration,
}

impl Visit {
    /// Connects, waits for the others, and asks until the time is up, once at least. Returns how
    /// long each answer took.
    fn client(&self, number: u64) -> io::Result<Vec<Duration>> {
        let connection = self.connect();
        // Counted in any case: the others wait for it.
        self.connected.arrive_and_wait();
        let mut stream = connection?;
        let (until, mut latencies) = (Instant::now() + self.time, Vec::new());
        while latencies.is_empty() || Instant::now() < until {
            let _permit = self.asking.acquire().map_err(io::Error::other)?;
            let asked = Instant::now();
            let answer = ask(&mut stream, number)?;
            latencies.push(asked.elapsed());
            if answer != number + 1 {
                return Err(io::Error::other(format!("the answer to {number} was {answer}")));
            }
        }
        Ok(latencies)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let _permit = self.connecting.acquire().map_err(io::Error::other)?;
        let stream = TcpStream::connect(self.server)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

fn ask(stream: &mut TcpStream, number: u64) -> io::Result<u64> {
    let mut answer = [0; 8];
    stream.write_all(&number.to_le_bytes())?;
    stream.read_exact(&mut answer)?;
    Ok(u64::from_le_bytes(answer))
}

fn run(stage: &Stage<'_>) -> Outcome {
    let wanted = stage.sizes().connections;
    // The second process inherits the limit.
    let most = limits::raise_descriptors(wanted + 1_000);
    let mut server = Server::start()?;
    let runtime = runtime("clients")?;
    let room = most.saturating_sub(limits::open_descriptors()? + SPARE_DESCRIPTORS);
    let connections = wanted.min(room).max(1);

    let visit = Arc::new(Visit {
        server: server.address()?,
        connecting: Semaphore::new(CONNECTING),
        connected: Latch::new(connections as usize + 1),
        asking: Semaphore::new(IN_FLIGHT),
        time: stage.time().mul_f64(0.5),
    });
    let clients: Vec<_> = (0..connections)
        .map(|number| {
            let visit = visit.clone();
            runtime.spawn(move || visit.client(number))
        })
        .collect();
    let bar = stage.bar(stage.time().as_micros() as u64);
    let connecting = Instant::now();
    visit.connected.arrive_and_wait();
    let (connecting, asking) = (connecting.elapsed(), Instant::now());
    let mut latencies = Vec::new();
    for client in clients {
        while !client.is_finished() {
            bar.set((connecting + asking.elapsed()).as_micros() as u64);
            fiber::sleep(Duration::from_millis(5));
        }
        let answers = client.join().map_err(|_| "a client panicked")??;
        check(!answers.is_empty(), || "a connection was never used".to_owned())?;
        latencies.extend(answers);
    }
    let asking = asking.elapsed();
    drop(bar);
    server.end()?;
    findings(stage, connections, latencies, connecting, asking)
}

fn findings(
    stage: &Stage<'_>,
    connections: u64,
    mut latencies: Vec<Duration>,
    connecting: Duration,
    asking: Duration,
) -> Outcome {
    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64();
    let rate = latencies.len() as f64 / asking.as_secs_f64();
    let (median, slow) = (percentile(50), percentile(99));
    let mut findings = Findings::new(format!(
        "{}, {} requests per second",
        counted(connections, "connection"),
        grouped(rate as u64)
    ))
    .note(format!("{} for half of the requests, {} for 99 of 100", time(median), time(slow)))
    .note(format!(
        "connected in {}; {IN_FLIGHT} requests under way at a time",
        time(connecting.as_secs_f64())
    ));
    if connections < stage.sizes().connections {
        findings = findings.note("fewer than usual: the limit of open files is low (`ulimit -n`)");
    }
    Ok(findings
        .measure("connections", connections as f64, Unit::Count)
        .measure("requests", rate, Unit::PerSecond)
        .measure("request, median", median, Unit::Seconds)
        .measure("request, 99 of 100", slow, Unit::Seconds))
}

/// A few workers: each has descriptors of its own, and these may be few.
fn runtime(name: &str) -> Result<Runtime, sinew::StartError> {
    let workers = fiber::available_parallelism().map_or(1, usize::from).min(4);
    Runtime::builder().name(name).workers(workers).start()
}

/// The second process. It is killed when this is dropped.
struct Server(Child);

impl Server {
    fn start() -> io::Result<Self> {
        role::start(SERVE).map(Self)
    }

    /// Reads the address from its first line.
    fn address(&mut self) -> Result<SocketAddr, Failure> {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().ok_or("its output is no pipe")?).read_line(&mut line)?;
        line.trim().parse().map_err(|_| format!("the server did not start: it said {line:?}").into())
    }

    /// Closes its standard input, and waits for its end.
    fn end(&mut self) -> Result<(), Failure> {
        drop(self.0.stdin.take());
        let mut errors = String::new();
        self.0.stderr.take().ok_or("its errors are no pipe")?.read_to_string(&mut errors)?;
        let status = self.0.wait()?;
        check(status.success(), || format!("the server ended with {status}: {errors}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
