//! `http_busy`: what others notice when one computes for 50 ms and lets nobody else run meanwhile. All is in one process: a probe asks
//! on 16 connections in turn, with a pause of 50 ms between two such computations; it is never on the worker that computes. The
//! headline is how long an answer takes while another worker computes; beside it the same without, and that of connections which the
//! computing worker had served last. Fibers that stay where they have begun cannot be served elsewhere: for them, those are left out.

use super::super::wake::{quantile, sorted};
use super::super::{Entry, Job, Metric, Readings, Workload};
use super::listener;
use super::stream::serve;
use super::talk::{ANSWER, REQUEST, Talk};
use crate::peers;
use crate::runtimes;
use may::go;
use rustix::thread::gettid;
use std::hint;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How many connections the probe has.
const CONNECTIONS: usize = 16;

/// How long one computes, and how long nobody does before.
const BURST: Duration = Duration::from_millis(50);

/// The table of this workload. Ours comes here, once it has sockets: as may, with a probe that knows whether fibers move.
pub(in crate::workloads) static WORKLOAD: Workload = Workload {
    name: "http_busy",
    what: "a request while another worker computes for 50 ms",
    single_threaded: false,
    metrics: &[
        Metric { name: "p99_us", unit: "µs, 99th percentile, another worker busy", lower_is_better: true },
        Metric { name: "p50_us", unit: "µs, median, another worker busy", lower_is_better: true },
        Metric { name: "quiet_p99_us", unit: "µs, 99th percentile, nobody busy", lower_is_better: true },
        Metric { name: "quiet_p50_us", unit: "µs, median, nobody busy", lower_is_better: true },
        Metric { name: "homed_p99_us", unit: "µs, 99th percentile, its worker busy", lower_is_better: true },
    ],
    entries: &[&[
        Entry::here(&peers::TOKIO, tokio).on_several_threads(),
        Entry::here(&peers::MAY, may).on_several_threads(),
    ]],
};

/// What probe, servers and whoever computes know of one another. It guards no memory: a number that is a moment old only puts a
/// request among the wrong ones.
struct Board {
    /// By connection, the thread that has served it last.
    homes: [AtomicI32; CONNECTIONS],
    /// Connections that were accepted.
    accepted: AtomicUsize,
    /// The thread that computes, or nought.
    busy: AtomicI32,
    /// The thread that the probe was on when it asked last.
    probe: AtomicI32,
    ended: AtomicBool,
}

/// Who computes while a request is on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum While {
    Quiet,
    AnotherIsBusy,
    HomeIsBusy,
}

impl Board {
    /// Never freed: tasks share it, and the process ends with them.
    fn leaked() -> &'static Self {
        Box::leak(Box::new(Self {
            homes: [const { AtomicI32::new(0) }; CONNECTIONS],
            accepted: AtomicUsize::new(0),
            busy: AtomicI32::new(0),
            probe: AtomicI32::new(0),
            ended: AtomicBool::new(false),
        }))
    }

    /// The place of a connection that was just accepted: they come in the order in which the probe connects.
    fn home(&self) -> &AtomicI32 {
        &self.homes[self.accepted.fetch_add(1, Ordering::Relaxed)]
    }

    /// The probe is about to ask on that connection.
    fn asks(&self, connection: usize) -> While {
        self.probe.store(here(), Ordering::Relaxed);
        match self.busy.load(Ordering::Relaxed) {
            0 => While::Quiet,
            busy if busy == self.homes[connection].load(Ordering::Relaxed) => While::HomeIsBusy,
            _ => While::AnotherIsBusy,
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Computes, unless the probe is on this thread; says whether it did.
    fn compute(&self) -> bool {
        if self.probe.load(Ordering::Relaxed) == here() {
            return false;
        }
        self.busy.store(here(), Ordering::Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < BURST {
            hint::spin_loop();
        }
        self.busy.store(0, Ordering::Relaxed);
        true
    }

    /// Has it computed again and again, where `run` has a task do it and waits for its end; then the probe ends.
    fn disturb(&self, job: &Job, run: impl Fn() -> bool) {
        for _ in 0..if job.pace.is_quick() { 3 } else { 60 } {
            thread::sleep(BURST);
            while !run() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// The thread that this runs on.
fn here() -> i32 {
    gettid().as_raw_nonzero().get()
}

/// How long answers took, in microseconds, by what happened meanwhile.
#[derive(Default)]
struct Times([Vec<f64>; 3]);

impl Times {
    fn add(&mut self, during: While, begun: Instant) {
        self.0[during as usize].push(begun.elapsed().as_secs_f64() * 1e6);
    }

    fn readings(self) -> Readings {
        let [quiet, busy, homed] = self.0.map(sorted);
        assert!(!quiet.is_empty() && !busy.is_empty(), "the probe came to ask");
        let mut readings = vec![
            ("p99_us", quantile(&busy, 0.99)),
            ("p50_us", quantile(&busy, 0.5)),
            ("quiet_p99_us", quantile(&quiet, 0.99)),
            ("quiet_p50_us", quantile(&quiet, 0.5)),
        ];
        if !homed.is_empty() {
            readings.push(("homed_p99_us", quantile(&homed, 0.99)));
        }
        readings
    }
}

/// Asks until the end. Those whose worker computes are passed over unless they `move`.
fn probe<S: Read + Write>(board: &Board, streams: &mut [S], moves: bool) -> io::Result<Times> {
    let (mut times, mut answer) = (Times::default(), [0; ANSWER.len()]);
    while !board.has_ended() {
        for (connection, stream) in streams.iter_mut().enumerate() {
            let during = board.asks(connection);
            if during == While::HomeIsBusy && !moves {
                continue;
            }
            let begun = Instant::now();
            stream.write_all(REQUEST)?;
            stream.read_exact(&mut answer)?;
            times.add(during, begun);
        }
    }
    Ok(times)
}

/// Answers as all servers do, and notes where.
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
        probe(board, &mut streams, true).expect("it is answered")
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

/// The same as [`probe`].
async fn probe_by_task(board: &Board, streams: &mut [tokio::net::TcpStream]) -> io::Result<Times> {
    let (mut times, mut answer) = (Times::default(), [0; ANSWER.len()]);
    while !board.has_ended() {
        for (connection, stream) in streams.iter_mut().enumerate() {
            let (during, begun) = (board.asks(connection), Instant::now());
            stream.write_all(REQUEST).await?;
            stream.read_exact(&mut answer).await?;
            times.add(during, begun);
        }
    }
    Ok(times)
}

/// The same as [`converse`].
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
    use super::{Board, Ordering, While, here};
    use std::thread;

    #[test]
    fn a_request_is_put_where_it_belongs() {
        let board = Board::leaked();
        board.home().store(7, Ordering::Relaxed);
        assert_eq!(board.asks(0), While::Quiet);
        board.busy.store(7, Ordering::Relaxed);
        assert_eq!((board.asks(0), board.asks(1)), (While::HomeIsBusy, While::AnotherIsBusy));
    }

    #[test]
    fn nobody_computes_where_the_probe_is() {
        let board = Board::leaked();
        board.asks(0);
        assert!(!board.compute());
        assert!(thread::spawn(|| board.compute()).join().expect("it does not panic"));
        assert_ne!(board.probe.load(Ordering::Relaxed), 0);
        assert_eq!(board.probe.load(Ordering::Relaxed), here());
    }
}
