//! The output for people: headings, verdicts, the table at the end, the list of jobs.
//!
//! It prints, and decides nothing.

use std::time::Duration;

use crate::failure::Result;
use crate::job::{Depth, Job};
use crate::jobs::JOBS;

/// How one job ended.
pub(crate) struct Outcome {
    /// The job's name.
    pub(crate) job: &'static str,
    /// Its result.
    pub(crate) result: Result,
    /// How long it took, installing included.
    pub(crate) elapsed: Duration,
}

impl Outcome {
    /// Returns whether the job found nothing wrong.
    pub(crate) fn passed(&self) -> bool {
        self.result.is_ok()
    }

    fn word(&self) -> &'static str {
        if self.passed() { "ok" } else { "FAILED" }
    }
}

/// Announces a job.
pub(crate) fn heading(job: &Job) {
    println!("\n==== {}: {}", job.name, job.about);
}

/// Prints how a job ended and how long it took.
pub(crate) fn verdict(outcome: &Outcome) {
    if let Err(failure) = &outcome.result {
        println!("{}: {failure}", outcome.job);
    }
    println!("---- {}: {} after {:.1} s", outcome.job, outcome.word(), outcome.elapsed.as_secs_f64());
}

/// Prints the table that ends a run.
pub(crate) fn summary(outcomes: &[Outcome]) {
    println!("\n{:<14}{:<8}{:>8}", "job", "result", "seconds");
    for outcome in outcomes {
        println!("{:<14}{:<8}{:>8.1}", outcome.job, outcome.word(), outcome.elapsed.as_secs_f64());
    }
    let total: Duration = outcomes.iter().map(|outcome| outcome.elapsed).sum();
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    println!("jobs: {}, failed: {failed}, seconds: {:.1}", outcomes.len(), total.as_secs_f64());
}

/// Prints every job on a line.
pub(crate) fn list_jobs() {
    for job in JOBS {
        let depth = match job.depth {
            Depth::Quick => "quick",
            Depth::Deep => "deep",
        };
        println!("{:<14}{depth:<7}{}", job.name, job.about);
    }
}
