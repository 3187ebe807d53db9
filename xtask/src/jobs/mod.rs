//! The table of jobs, in the order in which they run: cheap jobs first, so that a run fails early.
//!
//! To add a job: write its file beside this one with a `JOB` constant, and add its two lines here.
//! No other place needs to know it.

mod aarch64;
mod api;
mod asan;
mod bench_smoke;
mod bench_test;
mod callgrind;
mod clippy;
mod docs;
mod fat_lto;
mod features;
mod fmt;
mod fuzz;
mod loom;
mod numa;
mod old_kernel;
mod panic_abort;
mod publish;
mod test;
mod tidy;
mod tsan;
mod valgrind;

use crate::job::Job;

/// What cargo tests where the library's tests run in special circumstances: its test programs,
/// without examples in the documentation, and without the pool's second program for the other
/// strategy, since the fibers' tests have both strategies too.
const LIBRARY: [&str; 9] =
    ["-p", "sinew-coroutine", "-p", "sinew-sched", "-p", "sinew", "--lib", "--test", "it"];

/// The same for everything about stacks and the memory of threads: fibers test the pool.
const STACKS: [&str; 7] = ["-p", "sinew-coroutine", "-p", "sinew", "--lib", "--test", "it"];

/// Where everything takes long, these variables make the fibers' tests run with one strategy only,
/// and most of them with one number of workers.
const STRATEGY: &str = "SINEW_TEST_STRATEGY";
const WORKERS: &str = "SINEW_TEST_WORKERS";

/// Where everything takes long, expected panics are printed without the names of functions: finding
/// those takes half a minute for each process.
const PLAIN_PANICS: (&str, &str) = ("RUST_BACKTRACE", "0");

/// All jobs.
pub(crate) static JOBS: &[Job] = &[
    fmt::JOB,
    clippy::JOB,
    docs::JOB,
    tidy::JOB,
    api::JOB,
    test::JOB,
    features::JOB,
    panic_abort::JOB,
    loom::JOB,
    fat_lto::JOB,
    fuzz::JOB,
    asan::JOB,
    tsan::JOB,
    aarch64::JOB,
    valgrind::JOB,
    publish::JOB,
    old_kernel::JOB,
    numa::JOB,
    callgrind::JOB,
    bench_smoke::JOB,
    bench_test::JOB,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let names: std::collections::BTreeSet<_> = JOBS.iter().map(|job| job.name).collect();
        assert_eq!(names.len(), JOBS.len());
    }
}
