//! `cargo xtask`: every check of this repository, one function each.
//!
//! This file turns the command line into a call and an exit code. It does not know what any job
//! does: the jobs are in [`jobs`], the source rules in [`tidy`], and the order of a run in [`ci`].
//!
//! Exit codes: 0 all passed, 1 something failed, 2 the command line was wrong.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod api;
mod ci;
mod context;
mod debian;
mod emulator;
mod exec;
mod failure;
mod guide;
mod job;
mod jobs;
mod mutants;
mod pages;
mod report;
mod tidy;
mod weight;

use context::Context;
use failure::Result;

/// The crates that users depend on.
const LIBRARIES: [&str; 4] = ["sinew", "sinew-coroutine", "sinew-sched", "sinew-topology"];

/// The checks of the sinew repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the checks in order, and end with a table of results.
    Ci(ci::Selection),
    /// Install the programs that the chosen jobs need (as root), or say which are missing.
    Prepare(ci::Selection),
    /// List every job, when it runs, and what it proves.
    Jobs,
    /// Check the source tree against the layout and style rules.
    Tidy,
    /// Compare the public items of the library crates with the lists in `docs/api`.
    Api(api::Lists),
    /// Build the guide as a book, by mdbook, which is installed below `target/` if it is not there.
    Guide,
    /// List the modules of a crate that name each other in a circle, and where.
    Modules {
        /// The crate, such as `sinew-sched`.
        package: String,
        /// List all modules that name another.
        #[arg(long)]
        all: bool,
    },
    /// Count the tokens of the library crates, without tests, models and comments.
    Tokens(tidy::token_count::Selection),
    /// Run a seeded sample of mutants of a crate, and list those that its tests do not notice.
    Mutants(mutants::Sample),
    /// Measure what an echo server costs to build, and its size, beside the same server on tokio.
    Weight(weight::Runs),
}

fn main() -> ExitCode {
    match dispatch(Cli::parse().verb) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(verb: Verb) -> Result<ExitCode> {
    let context = Context::locate();
    match verb {
        Verb::Ci(selection) => Ok(ci::run(&context, &selection)),
        Verb::Prepare(selection) => ci::prepare(&selection).map(|()| ExitCode::SUCCESS),
        Verb::Jobs => {
            report::list_jobs();
            Ok(ExitCode::SUCCESS)
        }
        Verb::Tidy => tidy::run(&context.root).map(|()| ExitCode::SUCCESS),
        Verb::Api(lists) => api::run(&context, &lists).map(|()| ExitCode::SUCCESS),
        Verb::Guide => guide::run(&context).map(|()| ExitCode::SUCCESS),
        Verb::Modules { package, all } => {
            tidy::print_modules(&context.root, &package, all).map(|()| ExitCode::SUCCESS)
        }
        Verb::Tokens(selection) => tidy::token_count::print(&context, &selection).map(|()| ExitCode::SUCCESS),
        Verb::Mutants(sample) => mutants::run(&context, &sample).map(|()| ExitCode::SUCCESS),
        Verb::Weight(runs) => weight::run(&context, &runs).map(|()| ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_job_is_refused_with_the_names_and_the_nearest() {
        let error = Cli::try_parse_from(["xtask", "ci", "--only", "clipy"]).err().expect("no such job");
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::InvalidValue, 2));
        let text = error.to_string();
        assert!(text.contains("a similar value exists: 'clippy'"), "{text}");
        assert!(text.contains("panic-abort"), "{text}");
    }
}
