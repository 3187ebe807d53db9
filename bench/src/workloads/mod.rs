//! The workloads. A workload is one file here and one entry in [`ALL`]. A peer takes part by one
//! function, or by one entry for a foreign program. The files know their peers' libraries, and
//! nothing about how results are gathered.

mod blocking;
mod chan;
mod condvar;
mod create;
mod fib;
pub(crate) mod http;
mod idle;
mod local;
mod lock;
mod mpmc;
mod mpsc;
mod mutex;
mod parked;
mod pingpong;
mod pool_idle;
mod pool_submit;
mod pool_wake;
mod pool_yield;
mod rwlock;
mod select8;
mod skynet;
mod skynet_join;
mod sleep;
mod spawn_batch_100k;
mod spawn_seq;
mod stack_pool;
mod stacks_1m;
mod switch;
mod timer_cancel;
mod timer_cost;
mod timers;
mod wake;
mod r#yield;

use crate::pace::{Cost, Pace};
use crate::peers::{self, Peer};
use crate::runtimes::Flavour;
use std::ops::Range;

/// All workloads, in the order of lists and runs.
pub(crate) static ALL: [&Workload; 40] = [
    &switch::WORKLOAD,
    &create::WORKLOAD,
    &stack_pool::WORKLOAD,
    &stacks_1m::WORKLOAD,
    &pool_submit::WORKLOAD,
    &pool_yield::WORKLOAD,
    &pool_wake::WORKLOAD,
    &pool_idle::WORKLOAD,
    &r#yield::WORKLOAD,
    &spawn_seq::WORKLOAD,
    &spawn_batch_100k::WORKLOAD,
    &skynet_join::WORKLOAD,
    &skynet::WORKLOAD,
    &fib::WORKLOAD,
    &parked::WORKLOAD,
    &wake::WORKLOAD,
    &idle::WORKLOAD,
    &timers::FEWER,
    &timers::MORE,
    &sleep::WORKLOAD,
    &timer_cancel::WORKLOAD,
    &timer_cost::SET,
    &timer_cost::KILL,
    &timer_cost::EXPIRY,
    &local::WORKLOAD,
    &lock::WORKLOAD,
    &mutex::PLAIN,
    &mutex::YIELDING,
    &condvar::WORKLOAD,
    &rwlock::WORKLOAD,
    &chan::WORKLOAD,
    &pingpong::WORKLOAD,
    &mpsc::WORKLOAD,
    &mpmc::WORKLOAD,
    &select8::WORKLOAD,
    &blocking::WORKLOAD,
    &http::WORKLOADS[0],
    &http::WORKLOADS[1],
    &http::WORKLOADS[2],
    &http::busy::WORKLOAD,
];

/// Something to measure, with all peers that can do it.
pub(crate) struct Workload {
    /// Its name on the command line and in results.
    pub(crate) name: &'static str,
    /// What one operation is.
    pub(crate) what: &'static str,
    /// Whether it runs on one thread only. Other workloads are measured with one and with two.
    pub(crate) single_threaded: bool,
    /// The results, the headline first.
    pub(crate) metrics: &'static [Metric],
    /// The peers that take part, in tables of which some are shared.
    pub(crate) entries: &'static [&'static [Entry]],
}

/// A quantity that a workload yields. The metric `cpu_ms`, user and system time of the whole child,
/// is measured for each child anyway. A workload only declares it, unless the peer measures a part
/// of it. All other metrics come from the peer.
pub(crate) struct Metric {
    /// Its name in results.
    pub(crate) name: &'static str,
    /// The unit, for people.
    pub(crate) unit: &'static str,
    /// Whether less is better.
    pub(crate) lower_is_better: bool,
}

/// A peer's part in a workload.
pub(crate) struct Entry {
    /// The peer.
    pub(crate) peer: &'static Peer,
    /// The measurement, unless the peer is a program of its own that makes it.
    pub(crate) measure: Option<fn(&Job) -> Readings>,
    /// Settings in which this peer deviates from its defaults. They become fields of its results.
    pub(crate) deviations: &'static [(&'static str, &'static str)],
    /// The numbers of threads with which this peer takes part.
    pub(crate) threads: Threads,
    /// Returns what this machine lacks for the measurement, beside the peer itself.
    needs: fn() -> Result<(), String>,
}

/// The numbers of threads with which a peer takes part.
#[derive(Clone, Copy)]
pub(crate) enum Threads {
    /// Any number.
    Any,
    /// No more than one.
    One,
    /// Two or more.
    Several,
}

impl Threads {
    /// Returns why it does not take part with this number.
    pub(crate) fn objection(self, threads: usize) -> Option<&'static str> {
        match self {
            Self::One if threads > 1 => Some("it runs on one thread only"),
            Self::Several if threads < 2 => Some("it needs more than one thread"),
            _ => None,
        }
    }
}

impl Entry {
    /// Makes an entry for a peer linked into this program, or for a program that this one measures.
    const fn here(peer: &'static Peer, measure: fn(&Job) -> Readings) -> Self {
        Self { measure: Some(measure), ..Self::foreign(peer) }
    }

    /// Makes an entry for a peer whose own program knows the workload by the same name.
    const fn foreign(peer: &'static Peer) -> Self {
        Self { peer, measure: None, deviations: &[], threads: Threads::Any, needs: || Ok(()) }
    }

    /// Declares settings in which the peer deviates from its defaults.
    const fn deviating(self, deviations: &'static [(&'static str, &'static str)]) -> Self {
        Self { deviations, ..self }
    }

    /// Restricts the entry to one thread.
    const fn on_one_thread(self) -> Self {
        Self { threads: Threads::One, ..self }
    }

    /// Restricts the entry to two or more threads.
    const fn on_several_threads(self) -> Self {
        Self { threads: Threads::Several, ..self }
    }

    /// Declares what the machine must have.
    const fn needing(self, needs: fn() -> Result<(), String>) -> Self {
        Self { needs, ..self }
    }

    /// Returns whether it can be measured on this machine, or what is missing.
    pub(crate) fn available(&self) -> Result<(), String> {
        (self.needs)()?;
        self.peer.available().map(drop)
    }
}

/// Returns entries for all flavours of our fibers.
const fn fibers(measure: fn(&Job) -> Readings) -> [Entry; 7] {
    [
        Entry::here(&peers::SINEW, measure),
        Entry::here(&peers::SINEW_MIGRATING, measure),
        Entry::here(&peers::SINEW_SHARED, measure),
        Entry::here(&peers::SINEW_SHARED_MIGRATING, measure),
        Entry::here(&peers::SINEW_LOCAL, measure),
        Entry::here(&peers::SINEW_LOCAL_MIGRATING, measure),
        Entry::here(&peers::SINEW_GROUPS, measure),
    ]
}

/// Returns entries for all flavours of our pool.
const fn pools(measure: fn(&Job) -> Readings) -> [Entry; 4] {
    [
        Entry::here(&peers::SINEW, measure),
        Entry::here(&peers::SINEW_SHARED, measure),
        Entry::here(&peers::SINEW_LOCAL, measure),
        Entry::here(&peers::SINEW_GROUPS, measure),
    ]
}

/// One measurement to be made in this process.
pub(crate) struct Job {
    /// How long it runs.
    pub(crate) pace: Pace,
    /// How many threads the peer may have for the work.
    pub(crate) threads: usize,
    /// The flavour of ours.
    pub(crate) flavour: Flavour,
    /// The peer that is measured.
    pub(crate) peer: &'static Peer,
}

/// Metrics by name, as a measurement yields them.
pub(crate) type Readings = Vec<(&'static str, f64)>;

/// Stack size of each bare coroutine in bytes, where a peer has the choice; the same for all.
const STACK_BYTES: usize = 64 * 1024;

impl Workload {
    /// Returns the entry of the peer of that name, if it has one.
    pub(crate) fn entry(&self, peer: &str) -> Option<&'static Entry> {
        self.all_entries().find(|entry| entry.peer.name == peer)
    }

    /// Returns all entries.
    pub(crate) fn all_entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.entries.iter().copied().flatten()
    }

    /// Returns the metric of that name.
    pub(crate) fn metric(&self, name: &str) -> Option<&'static Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Returns the numbers of threads that are measured by default.
    pub(crate) fn default_threads(&self) -> &'static [usize] {
        let on_one = self.all_entries().any(|entry| entry.threads.objection(1).is_none());
        match (self.single_threaded, on_one) {
            (true, _) => &[1],
            (false, true) => &[1, 2],
            (false, false) => &[2],
        }
    }
}

/// Returns the workload of that name.
pub(crate) fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}

/// Returns a cost as the metrics `ns` and `cpu_ns`.
fn both(cost: Cost) -> Readings {
    vec![("ns", cost.ns), ("cpu_ns", cost.cpu_ns)]
}

/// Returns what each of `senders` senders sends, of `messages` messages in all.
fn shares(messages: u64, senders: u64) -> impl Iterator<Item = Range<u64>> {
    let each = messages / senders;
    (0..senders).map(move |sender| sender * each..(sender + 1) * each)
}

/// Times one message. `round` sends the given number of messages, 0, 1, 2, ..., and returns the sum
/// of those that arrived.
fn per_message(job: &Job, messages: u64, round: impl Fn(u64) -> u64) -> Cost {
    let checked = |_| check_sum(round(messages), 0, messages);
    job.pace.cost_per_op(|rounds| (0..rounds).for_each(checked)).divided_by(messages as usize)
}

/// Checks that each value has come back once.
///
/// # Panics
///
/// `sum` is not that of the `n` numbers from `start` on, wrapped to 64 bits.
fn check_sum(sum: u64, start: u64, n: u64) {
    let last = start.wrapping_add(n).wrapping_sub(1);
    let twice = u128::from(n) * (u128::from(start) + u128::from(last));
    let expected = (twice / 2) as u64;
    assert_eq!(sum, expected, "the values that came back do not add up");
}

#[cfg(test)]
mod tests {
    use super::{ALL, check_sum, shares};
    use crate::peers;

    #[test]
    fn names_are_unique_and_metrics_declared() {
        for (i, workload) in ALL.iter().enumerate() {
            assert!(ALL[..i].iter().all(|other| other.name != workload.name), "{}", workload.name);
            assert!(!workload.metrics.is_empty(), "{}", workload.name);
        }
    }

    #[test]
    fn entries_fit_their_peers() {
        for entry in ALL.iter().flat_map(|workload| workload.all_entries()) {
            let here = !matches!(entry.peer.home, peers::Home::Foreign(_));
            assert!(!here || entry.measure.is_some(), "{}", entry.peer.name);
            assert!(peers::ALL.iter().any(|peer| peer.name == entry.peer.name), "{}", entry.peer.name);
        }
    }

    #[test]
    fn deviations_have_names_of_their_own() {
        let taken = ["peer", "workload", "threads", "metric", "stat", "value", "n", "quick"];
        for entry in ALL.iter().flat_map(|workload| workload.all_entries()) {
            for (name, _) in entry.deviations {
                assert!(!taken.contains(name), "{}: {name}", entry.peer.name);
            }
        }
    }

    #[test]
    fn shares_cover_everything() {
        assert!(shares(100, 4).flatten().eq(0..100));
    }

    #[test]
    fn sums_are_checked() {
        check_sum(3 + 4 + 5, 3, 3);
        check_sum(7 + 8, 7, 2);
        assert!(std::panic::catch_unwind(|| check_sum(11, 3, 3)).is_err());
    }
}
