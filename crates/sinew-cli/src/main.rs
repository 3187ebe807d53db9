//! The `sinew` program: a tour of the library, a report about the machine, and an HTTP server.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod doctor;
mod machine;
mod output;
mod serve;
mod stage;
mod tour;

/// Shows, live and checked, what the sinew runtime does on this machine.
///
/// Without a terminal, and with NO_COLOR, there are no colours and no bars. The exit status is 1 if
/// a check fails.
#[derive(Parser)]
#[command(name = "sinew", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    tour: tour::Options,
}

#[derive(Subcommand)]
enum Command {
    Doctor(doctor::Options),
    Serve(serve::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (name, ended) = match arguments.command {
        Some(Command::Doctor(options)) => return doctor::run(&options),
        Some(Command::Serve(options)) => ("sinew serve", serve::run(options).map(|()| ExitCode::SUCCESS)),
        None => ("sinew", tour::run(&arguments.tour)),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("{name}: {error}");
        ExitCode::FAILURE
    })
}
