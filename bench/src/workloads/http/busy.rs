//! `http_busy`: how other fibers are affected when one computes for 50 ms without giving way. All
//! is in one process. A probe asks on 16 connections in turn. Between two such computations is a
//! pause of 50 ms, and none begins on the worker of the probe. The headline is how long an answer
//! takes if another worker computes at some moment of it. Beside it stand the same if no worker
//! computes, and the same for connections that the computing worker had served last. Where fibers
//! stay on their worker, the fibers that answer the probe are on the probe's worker: the probe sees
//! whether its own worker is held up by another.

use super::super::wake::{quantile, sorted};
use super::super::{Entry, Job, Metric, Readings, Workload};
use super::listener;
use super::stream::serve;
use super::talk::{ANSWER, REQUEST, Talk};
use crate::peers;
use crate::runtimes;
use may::go;
use rustix::thread::gettid;
use sinew::fiber;
use std::hint;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The number of the probe's connections.
const CONNECTIONS: usize = 16;

/// How long a computation takes, and how long the pause before it is.
const BURST: Duration = Duration::from_millis(50);

/// The table of this workload.
pub(in crate::workloads) static WORKLOAD: Workload = Workload {
    name: "http_busy",
    what: "a request while another worker computes for 50 ms",
    single_threaded: false,
    metrics: &[
        Metric { name: "p99_us", unit: "µs, 99th percentile, another worker busy", lower_is_better: true },
        Metric { name: "p50_us", unit: "µs, median, another worker busy", lower_is_better: true },
        Metric { name: "quiet_p99_us", unit: "µs, 99th percentile, no worker busy", lower_is_better: true },
        Metric { name: "quiet_p50_us", unit: "µs, median, no worker busy", lower_is_better: true },
        Metric { name: "homed_p99_us", unit: "µs, 99th percentile, its worker busy", lower_is_better: true },
    ],
    entries: &[&[
        Entry::here(&peers::SINEW, sinew).on_several_threads(),
        Entry::here(&peers::SINEW_MIGRATING, sinew_migrating).on_several_threads(),
        Entry::here(&peers::TOKIO, tokio).on_several_threads(),
        Entry::here(&peers::MAY, may).on_several_threads(),
    ]],
};

/// What the probe, the servers and the computing task know of one another. It guards no memory: a
/// number that is a moment old only counts a request in the wrong class.
struct Board {
    /// By connection, the thread that served it last.
    homes: [AtomicI32; CONNECTIONS],
    /// Connections that were accepted.
    accepted: AtomicUsize,
    /// How often a computation has begun or ended: odd while one runs.
    phase: AtomicUsize,
    /// The thread that computes, or that computed last.
    computing: AtomicI32,
    /// The thread on which the probe last asked.
    probe: AtomicI32,
    /// Answers during which no worker computed.
    quiet: AtomicUsize,
    /// Answers during which a worker computed.
    busy: AtomicUsize,
    ended: AtomicBool,
}

/// A request that is not yet answered.
struct Asked {
    begun: Instant,
    phase: usize,
    home: i32,
}

impl Board {
    /// Makes a board. It is never freed: tasks share it, and the process ends with them.
    fn leaked() -> &'static Self {
        Box::leak(Box::new(Self {
            homes: [const { AtomicI32::new(0) }; CONNECTIONS],
            accepted: AtomicUsize::new(0),
            phase: AtomicUsize::new(0),
            computing: AtomicI32::new(0),
            probe: AtomicI32::new(0),
            quiet: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        }))
    }

    /// Returns the entry of a connection that was just accepted: they come in the order in which
    /// the probe connects.
    fn home(&self) -> &AtomicI32 {
        &self.homes[self.accepted.fetch_add(1, Ordering::Relaxed)]
    }

    /// Notes that the probe is about to ask on that connection.
    fn ask(&self, connection: usize) -> Asked {
        self.probe.store(here(), Ordering::Relaxed);
        let (phase, home) = (&self.phase, &self.homes[connection]);
        Asked {
            begun: Instant::now(),
            phase: phase.load(Ordering::Relaxed),
            home: home.load(Ordering::Relaxed),
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Computes, unless the probe is on this thread. Returns whether it did.
    fn compute(&self) -> bool {
        if self.probe.load(Ordering::Relaxed) == here() {
            return false;
        }
        self.computing.store(here(), Ordering::Relaxed);
        self.phase.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < BURST {
            hint::spin_loop();
        }
        self.phase.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Calls `run`, which computes in a task, again and again, then ends the probe.
    ///
    /// Each burst begins after an answer without one, and the last burst is one that the probe has
    /// noticed. So both kinds of answers exist, however slowly the machine lets the probe begin.
    fn disturb(&self, job: &Job, run: impl Fn() -> bool) {
        let mut left: usize = if job.pace.is_quick() { 3 } else { 60 };
        while left > 0 || self.busy.load(Ordering::Relaxed) == 0 {
            let quiet = self.quiet.load(Ordering::Relaxed);
            thread::sleep(BURST);
            while self.quiet.load(Ordering::Relaxed) == quiet || !run() {
                thread::sleep(Duration::from_millis(1));
            }
            left = left.saturating_sub(1);
        }
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Returns the thread that this runs on.
fn here() -> i32 {
    gettid().as_raw_nonzero().get()
}

/// How long answers took, in microseconds.
#[derive(Default)]
struct Times {
    /// When no worker computed.
    quiet: Vec<f64>,
    /// When a worker computed.
    busy: Vec<f64>,
    /// Those of them where the computing worker had served the connection last.
    homed: Vec<f64>,
}

impl Times {
    /// Adds an answer that has come.
    fn add(&mut self, board: &Board, asked: &Asked) {
        let micros = asked.begun.elapsed().as_secs_f64() * 1e6;
        let phase = board.phase.load(Ordering::Relaxed);
        if phase == asked.phase && phase.is_multiple_of(2) {
            self.quiet.push(micros);
            board.quiet.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.busy.push(micros);
        board.busy.fetch_add(1, Ordering::Relaxed);
        if board.computing.load(Ordering::Relaxed) == asked.home {
            self.homed.push(micros);
        }
    }

    fn readings(self) -> Readings {
        let [quiet, busy, homed] = [self.quiet, self.busy, self.homed].map(sorted);
        let parts = [
            ("p99_us", &busy, 0.99),
            ("p50_us", &busy, 0.5),
            ("quiet_p99_us", &quiet, 0.99),
            ("quiet_p50_us", &quiet, 0.5),
            ("homed_p99_us", &homed, 0.99),
        ];
        let there = parts.iter().filter(|(_, times, _)| !times.is_empty());
        there.map(|&(name, times, part)| (name, quantile(times, part))).collect()
    }
}

/// Asks until the end.
fn probe<S: Read + Write>(board: &Board, streams: &mut [S]) -> io::Result<Times> {
    let (mut times, mut answer) = (Times::default(), [0; ANSWER.len()]);
    while !board.has_ended() {
        for (connection, stream) in streams.iter_mut().enumerate() {
            let asked = board.ask(connection);
            stream.write_all(REQUEST)?;
            stream.read_exact(&mut answer)?;
            times.add(board, &asked);
        }
    }
    Ok(times)
}

/// Answers as all servers do, and notes the thread.
fn converse(mut stream: impl Read + Write, home: &AtomicI32) {
    let mut talk = Talk::new();
    while let Ok(bytes @ 1..) = stream.read(talk.room()) {
        home.store(here(), Ordering::Relaxed);
        let answers = talk.received(bytes);
        if !answers.is_empty() && stream.write_all(answers).is_err() {
            return;
        }
    }
}

fn sinew(job: &Job) -> Readings {
    let (runtime, board, listener) = (runtimes::fibers(job), Board::leaked(), listener::one());
    let address = listener.local_addr().expect("it listens");
    let asking = runtime.spawn(move || {
        fiber::spawn_local(move || {
            let listener = sinew::net::TcpListener::from(listener);
            serve(
                || listener.accept(),
                |(stream, _)| {
                    let home = board.home();
                    fiber::spawn_local(move || converse(stream, home));
                },
            )
        });
        ask_by_fiber(board, address)
    });
    board.disturb(job, || runtime.run(|| board.compute()));
    asking.join().expect("it does not panic").readings()
}

fn sinew_migrating(job: &Job) -> Readings {
    let (runtime, board, listener) = (runtimes::fibers(job), Board::leaked(), listener::one());
    let address = listener.local_addr().expect("it listens");
    runtime.spawn(move || {
        let listener = sinew::net::TcpListener::from(listener);
        serve(
            || listener.accept(),
            |(stream, _)| {
                let home = board.home();
                fiber::spawn(move || converse(stream, home));
            },
        )
    });
    let asking = runtime.spawn(move || ask_by_fiber(board, address));
    board.disturb(job, || runtime.run(|| board.compute()));
    asking.join().expect("it does not panic").readings()
}

fn ask_by_fiber(board: &Board, address: SocketAddr) -> Times {
    let connect = |_| sinew::net::TcpStream::connect(address).expect("it listens");
    let mut streams: Vec<_> = (0..CONNECTIONS).map(connect).collect();
    probe(board, &mut streams).expect("it is answered")
}

fn may(job: &Job) -> Readings {
    let (may, board, listener) = (runtimes::may(job.threads), Board::leaked(), listener::one());
    let address = listener.local_addr().expect("it listens");
    go!(move || {
        let listener = runtimes::may_listener(listener);
        let accept = || listener.accept();
        serve(accept, |(stream, _)| {
            let home = board.home();
            go!(move || converse(stream, home));
        })
    });
    let asking = go!(move || {
        let connect = |_| may::net::TcpStream::connect(address).expect("it listens");
        let mut streams: Vec<_> = (0..CONNECTIONS).map(connect).collect();
        probe(board, &mut streams).expect("it is answered")
    });
    board.disturb(job, || may.run(|| board.compute()));
    asking.join().expect("it does not panic").readings()
}

fn tokio(job: &Job) -> Readings {
    let (runtime, board, listener) = (runtimes::tokio(job.threads), Board::leaked(), listener::one());
    let address = listener.local_addr().expect("it listens");
    listener.set_nonblocking(true).expect("a socket can be so");
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("it can be watched");
        loop {
            let (stream, _) = listener.accept().await.expect("it can accept");
            tokio::spawn(converse_by_task(stream, board.home()));
        }
    });
    let asking = runtime.spawn(async move {
        let mut streams = Vec::new();
        for _ in 0..CONNECTIONS {
            streams.push(tokio::net::TcpStream::connect(address).await.expect("it listens"));
        }
        probe_by_task(board, &mut streams).await.expect("it is answered")
    });
    board.disturb(job, || runtimes::in_tokio(&runtime, async { board.compute() }));
    runtime.block_on(asking).expect("it does not panic").readings()
}

/// Does the same as [`probe`], in a task.
async fn probe_by_task(board: &Board, streams: &mut [tokio::net::TcpStream]) -> io::Result<Times> {
    let (mut times, mut answer) = (Times::default(), [0; ANSWER.len()]);
    while !board.has_ended() {
        for (connection, stream) in streams.iter_mut().enumerate() {
            let asked = board.ask(connection);
            stream.write_all(REQUEST).await?;
            stream.read_exact(&mut answer).await?;
            times.add(board, &asked);
        }
    }
    Ok(times)
}

/// Does the same as [`converse`], in a task.
async fn converse_by_task(mut stream: tokio::net::TcpStream, home: &AtomicI32) {
    let mut talk = Talk::new();
    while let Ok(bytes @ 1..) = stream.read(talk.room()).await {
        home.store(here(), Ordering::Relaxed);
        let answers = talk.received(bytes);
        if !answers.is_empty() && stream.write_all(answers).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, Ordering, Times, here};
    use std::thread;

    #[test]
    fn a_request_is_counted_in_its_class() {
        let (board, mut times) = (Board::leaked(), Times::default());
        let lengths = |times: &Times| [times.quiet.len(), times.busy.len(), times.homed.len()];
        let quiet = board.ask(0);
        times.add(board, &quiet);
        assert_eq!(lengths(&times), [1, 0, 0]);
        assert!(thread::spawn(|| board.compute()).join().expect("it does not panic"));
        // A worker has computed meanwhile, on a thread that served no connection.
        times.add(board, &quiet);
        assert_eq!(lengths(&times), [1, 1, 0]);
        board.home().store(board.computing.load(Ordering::Relaxed), Ordering::Relaxed);
        board.phase.fetch_add(1, Ordering::Relaxed);
        times.add(board, &board.ask(0));
        times.add(board, &board.ask(1));
        assert_eq!(lengths(&times), [1, 3, 1]);
    }

    #[test]
    fn no_task_computes_on_the_thread_of_the_probe() {
        let board = Board::leaked();
        board.ask(0);
        assert_eq!(board.probe.load(Ordering::Relaxed), here());
        assert!(!board.compute());
    }
}
