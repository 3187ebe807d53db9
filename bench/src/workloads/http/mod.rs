//! `http`, `http_c1000`, `http_c10000`: a server answers each request with 13 bytes and keeps its
//! 64, 1,000 or 10,000 connections. On each of them the next request comes as soon as the last one
//! was answered. The server is a process of its own, and so is the client, `wrk` with one thread.
//! With one thread for the server, both have a processor to themselves; with more, no thread is
//! bound to a processor.
//!
//! Requests a second of two processes on two processors are a figure of the kernel more than of a
//! server. The figure to compare is the server's processor time for a request. Both cover the whole
//! time of the client, including its connecting: 5 seconds, or 10 with the most connections (one in
//! a quick run, with fewer connections). Before that the server is warmed up in the same way,
//! except in a quick run. First of all, the answers of the server are checked. With more than 64
//! connections, the memory of one that has asked once and is silent is measured too. All servers
//! read the same number of bytes at a time.
//!
//! `threads`, a thread for each connection, takes no part with 10,000.

pub(super) mod busy;
mod client;
mod epoll;
mod listener;
mod server;
mod servers;
mod stream;
mod talk;
mod watch;

pub(crate) use servers::serve;

use super::{Entry, Job, Metric, Readings, Workload};
use crate::companion;
use crate::peers;
use crate::wrk::{self, Load};
use server::Server;

const METRICS: &[Metric] = &[
    Metric { name: "requests_per_s", unit: "requests a second", lower_is_better: false },
    Metric { name: "p50_us", unit: "µs until the answer, median", lower_is_better: true },
    Metric { name: "p99_us", unit: "µs until the answer, 99th percentile", lower_is_better: true },
    Metric { name: "cpu_us", unit: "µs of the server's processor time a request", lower_is_better: true },
    Metric { name: "waits", unit: "times that a thread slept, of 1,000 requests", lower_is_better: true },
    Metric { name: "idle_bytes", unit: "bytes of memory an idle connection", lower_is_better: true },
];

/// The tables, by the number of connections.
pub(super) static WORKLOADS: [Workload; 3] = [
    Workload {
        name: "http",
        what: "a request on one of 64 connections",
        single_threaded: false,
        metrics: METRICS,
        entries: &[&entries(|job| measure(job, 64)), &[threads(|job| measure(job, 64))]],
    },
    Workload {
        name: "http_c1000",
        what: "a request on one of 1,000 connections",
        single_threaded: false,
        metrics: METRICS,
        entries: &[&entries(|job| measure(job, 1_000)), &[threads(|job| measure(job, 1_000))]],
    },
    Workload {
        name: "http_c10000",
        what: "a request on one of 10,000 connections",
        single_threaded: false,
        metrics: METRICS,
        entries: &[&entries(|job| measure(job, 10_000))],
    },
];

/// The peers that serve any number of connections.
const fn entries(measure: fn(&Job) -> Readings) -> [Entry; 11] {
    [
        Entry::here(&peers::SINEW, measure).needing(needs),
        Entry::here(&peers::SINEW_MIGRATING, measure).needing(needs),
        Entry::here(&peers::SINEW_SHARED, measure).needing(needs),
        Entry::here(&peers::SINEW_SHARED_MIGRATING, measure).needing(needs),
        Entry::here(&peers::EPOLL_RAW, measure).needing(needs),
        Entry::here(&peers::EPOLL_BUSY, measure).needing(needs),
        Entry::here(&peers::EPOLL_MIO, measure).needing(needs),
        Entry::here(&peers::TOKIO, measure).needing(needs),
        Entry::here(&peers::TOKIO_CT, measure).needing(needs).on_one_thread(),
        Entry::here(&peers::MAY, measure).needing(needs),
        Entry::here(&peers::GO, measure).needing(needs),
    ]
}

const fn threads(measure: fn(&Job) -> Readings) -> Entry {
    Entry::here(&peers::THREADS, measure).needing(needs)
}

/// Returns what the machine lacks.
fn needs() -> Result<(), String> {
    wrk::find()?;
    companion::two_processors().map(drop)
}

fn measure(job: &Job, connections: usize) -> Readings {
    measured(job, connections).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The size of a measurement.
struct Scale {
    connections: usize,
    /// Seconds of the warm-up.
    warm: u32,
    /// Seconds of the measurement.
    seconds: u32,
}

impl Scale {
    fn new(job: &Job, connections: usize) -> Self {
        match connections {
            _ if job.pace.is_quick() => {
                Self { connections: connections.min(64 + connections / 20), warm: 0, seconds: 1 }
            }
            ..=1_000 => Self { connections, warm: 1, seconds: 5 },
            // They take a good part of a second to connect.
            _ => Self { connections, warm: 3, seconds: 10 },
        }
    }
}

fn measured(job: &Job, connections: usize) -> Result<Readings, String> {
    let Scale { connections, warm, seconds } = Scale::new(job, connections);
    companion::allow_descriptors(connections)?;
    let processors = if job.threads == 1 { companion::two_processors()?.map(Some) } else { [None; 2] };
    let server = Server::start(job.peer, job.threads, processors[0])?;
    client::check(server.port())?;
    let idle = if connections > 64 { Some(client::idle_bytes(&server, connections)?) } else { None };
    let load = Load { port: server.port(), connections, seconds, processor: processors[1] };
    if warm > 0 {
        Load { seconds: warm, ..load }.run()?;
    }
    let mut readings = under_load(&server, &load)?;
    if job.peer.name == peers::THREADS.name {
        // Its threads end with their connections, and their counts with them.
        readings.retain(|(name, _)| *name != "waits");
    }
    readings.extend(idle.map(|bytes| ("idle_bytes", bytes)));
    Ok(readings)
}

fn under_load(server: &Server, load: &Load) -> Result<Readings, String> {
    let before = server.used();
    let report = load.run()?;
    let after = server.used();
    let cpu = after.cpu.saturating_sub(before.cpu);
    let waits = after.waits.saturating_sub(before.waits);
    Ok(vec![
        ("requests_per_s", report.per_second),
        ("p50_us", report.p50.as_secs_f64() * 1e6),
        ("p99_us", report.p99.as_secs_f64() * 1e6),
        ("cpu_us", cpu.as_secs_f64() * 1e6 / report.requests),
        ("waits", waits as f64 * 1e3 / report.requests),
    ])
}
