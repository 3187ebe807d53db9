//! Runs a choice of jobs in the order of the table, and reports on each.
//!
//! A failed job does not stop the run: one report with every failure beats one failure for each
//! run. This file does not know what the jobs do.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::context::Context;
use crate::debian::install;
use crate::failure::Result;
use crate::job::{Depth, Job, Tool};
use crate::jobs::JOBS;
use crate::report::{self, Outcome};

/// The choice of jobs that a command line makes.
#[derive(Args)]
pub(crate) struct Selection {
    /// Add the long jobs to the quick ones.
    #[arg(long)]
    deep: bool,
    /// Leave this job out (repeatable).
    #[arg(long, value_name = "JOB", value_parser = job_name())]
    skip: Vec<String>,
    /// Run only this job, quick or deep (repeatable).
    #[arg(long, value_name = "JOB", value_parser = job_name(), conflicts_with = "deep")]
    only: Vec<String>,
}

/// Accepts the names in the job table; for any other, clap lists them, suggests the nearest and
/// exits with 2.
fn job_name() -> PossibleValuesParser {
    PossibleValuesParser::new(JOBS.iter().map(|job| job.name))
}

impl Selection {
    /// Returns the chosen jobs, in the order of the table, not of the options.
    fn jobs(&self) -> Vec<&'static Job> {
        JOBS.iter().filter(|job| self.takes(job)).collect()
    }

    fn takes(&self, job: &Job) -> bool {
        let is_in = |names: &[String]| names.iter().any(|name| name == job.name);
        let wanted =
            if self.only.is_empty() { self.deep || job.depth == Depth::Quick } else { is_in(&self.only) };
        wanted && !is_in(&self.skip)
    }
}

/// Runs the chosen jobs and prints the summary.
pub(crate) fn run(context: &Context, selection: &Selection) -> ExitCode {
    let jobs = selection.jobs();
    if jobs.is_empty() {
        eprintln!("xtask: these options leave no job to run; `cargo xtask jobs` lists them all");
        return ExitCode::from(2);
    }
    let outcomes: Vec<_> = jobs.into_iter().map(|job| run_one(context, job)).collect();
    report::summary(&outcomes);
    if outcomes.iter().all(Outcome::passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_one(context: &Context, job: &'static Job) -> Outcome {
    report::heading(job);
    let start = Instant::now();
    let result = install::ensure(job.needs).and_then(|()| (job.run)(context));
    let outcome = Outcome { job: job.name, result, elapsed: start.elapsed() };
    report::verdict(&outcome);
    outcome
}

/// Installs what the chosen jobs need, or says what is missing.
pub(crate) fn prepare(selection: &Selection) -> Result {
    let needs: Vec<Tool> = selection.jobs().iter().flat_map(|job| job.needs).copied().collect();
    install::ensure(&needs)?;
    println!("every program that the chosen jobs need is installed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(deep: bool, skip: &[&str], only: &[&str]) -> Vec<&'static str> {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let selection = Selection { deep, skip: owned(skip), only: owned(only) };
        selection.jobs().iter().map(|job| job.name).collect()
    }

    #[test]
    fn a_plain_run_takes_the_quick_jobs_only() {
        assert_eq!(
            names(false, &[], &[]),
            ["fmt", "clippy", "docs", "tidy", "api", "test", "features", "panic-abort"]
        );
    }

    #[test]
    fn a_deep_run_takes_every_job() {
        assert_eq!(names(true, &[], &[]).len(), JOBS.len());
    }

    #[test]
    fn skip_leaves_out_and_only_reaches_deep_jobs_in_table_order() {
        assert!(!names(true, &["test"], &[]).contains(&"test"));
        assert_eq!(names(false, &[], &["asan", "fmt"]), ["fmt", "asan"]);
        assert_eq!(names(false, &["fmt"], &["fmt"]), [""; 0]);
    }
}
