//! `rwlock`: 100 fibers share a lock for readers and writers, each for 10,000 operations (1,000 in
//! a quick run). One in a hundred writes four words, the others read them and add them up. Starting
//! and ending the fibers is part of it: one in 10,000. It is checked that no reader has seen half
//! of a write, and that each write was done.
//!
//! The peers `threads` and `parking_lot` have as many threads as others have workers. These share
//! the same operations.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::crowd;
use crate::peers;
use crate::runtimes;
use std::ops::Range;
use std::sync::Arc;

const FIBERS: usize = 100;

/// One in this number of operations writes.
const WRITE_EVERY: usize = 100;

/// The value in the lock.
type Words = [u64; 4];

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "rwlock",
    what: "100 fibers × 10,000 times under a lock, 1 in 100 writes",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns an operation", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time an operation", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::THREADS, threads),
            Entry::here(&peers::PARKING_LOT, parking_lot),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Returns how many operations all fibers do in a round.
fn operations(job: &Job) -> usize {
    FIBERS * if job.pace.is_quick() { 1_000 } else { 10_000 }
}

/// Returns the operations of fiber `number` among `of` fibers.
fn share(operations: usize, number: usize, of: usize) -> Range<usize> {
    operations * number / of..operations * (number + 1) / of
}

fn writes(operation: usize) -> bool {
    operation.is_multiple_of(WRITE_EVERY)
}

fn read(words: &Words) -> u64 {
    words.iter().sum()
}

fn write(words: &mut Words) {
    words.iter_mut().for_each(|word| *word += 1);
}

/// Checks that a reader has added up four equal words.
fn check_reader(sum: u64) {
    assert!(sum.is_multiple_of(size_of::<Words>() as u64 / 8), "a reader has seen half of a write");
}

/// Times one operation. `round` does the given number and returns the words at its end.
fn rounds(job: &Job, round: impl Fn(usize) -> Words) -> Readings {
    let all = operations(job);
    let expected = (all / WRITE_EVERY) as u64;
    let checked = |_| assert!(round(all).iter().all(|&word| word == expected), "a write is missing");
    both(job.pace.cost_per_op(|rounds| (0..rounds).for_each(checked)).divided_by(all))
}

/// What one fiber does, with std's lock or one with the same names.
macro_rules! share_of {
    ($lock:expr, $operations:expr) => {{
        let mut sum = 0_u64;
        for operation in $operations {
            if writes(operation) {
                write(&mut $lock.write().expect("no fiber panics"));
            } else {
                sum += read(&$lock.read().expect("no fiber panics"));
            }
        }
        check_reader(sum);
    }};
}

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    let round = |all| {
        let lock = Arc::new(sinew::sync::RwLock::new(Words::default()));
        let shared = lock.clone();
        crowd::fibers(FIBERS, move |number| share_of!(shared, share(all, number, FIBERS)));
        *lock.read().expect("no fiber panics")
    };
    rounds(job, |all| runtime.run(move || round(all)))
}

fn threads(job: &Job) -> Readings {
    rounds(job, |all| {
        let lock = std::sync::RwLock::new(Words::default());
        crowd::threads(job.threads, |number| share_of!(lock, share(all, number, job.threads)));
        lock.into_inner().expect("no fiber panics")
    })
}

fn parking_lot(job: &Job) -> Readings {
    rounds(job, |all| {
        let lock = parking_lot::RwLock::new(Words::default());
        crowd::threads(job.threads, |number| {
            let mut sum = 0;
            for operation in share(all, number, job.threads) {
                if writes(operation) {
                    write(&mut lock.write());
                } else {
                    sum += read(&lock.read());
                }
            }
            check_reader(sum);
        });
        lock.into_inner()
    })
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let round = |all| async move {
        let lock = Arc::new(tokio::sync::RwLock::new(Words::default()));
        crowd::tasks(FIBERS, |number| tokio_share(lock.clone(), share(all, number, FIBERS))).await;
        *lock.read().await
    };
    rounds(job, |all| runtimes::in_tokio(&runtime, round(all)))
}

async fn tokio_share(lock: Arc<tokio::sync::RwLock<Words>>, operations: Range<usize>) {
    let mut sum = 0;
    for operation in operations {
        if writes(operation) {
            write(&mut *lock.write().await);
        } else {
            sum += read(&*lock.read().await);
        }
    }
    check_reader(sum);
}

#[cfg(test)]
mod tests {
    use super::{share, writes};

    #[test]
    fn shares_cover_everything() {
        assert!((0..3).flat_map(|number| share(100, number, 3)).eq(0..100));
        assert_eq!((0..1_000).filter(|&operation| writes(operation)).count(), 10);
    }
}
