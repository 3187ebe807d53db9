//! The `sinew` program: shows what the runtime has, by running it here and now.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod check;
mod coroutines;
mod measure;
mod screen;
mod serve;
mod stacks;

/// Checks, on this machine, the coroutines and the stacks that fibers are made of, and measures them.
#[derive(Parser)]
#[command(name = "sinew", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Leave the measurements out.
    #[arg(long)]
    no_measure: bool,
    /// Overflow a stack and die of it, as a check has a second process do.
    #[arg(long = stacks::OVERFLOW, hide = true)]
    overflow: bool,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Command::Serve(options)) = arguments.command {
        return match serve::run(options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("sinew serve: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut screen = screen::Screen::new();
    if arguments.overflow {
        let ended = stacks::overflow_on_purpose();
        screen.fail("overflowing", format!("{ended:?}"));
        return ExitCode::FAILURE;
    }
    screen.title();
    let parts = [("Coroutines", coroutines::CHECKS), ("Stacks", stacks::CHECKS)];
    let failed = parts.iter().map(|(part, checks)| check::run_all(&mut screen, part, checks)).sum();
    if !arguments.no_measure {
        measure::show_all(&mut screen);
    }
    screen.verdict(parts.iter().map(|(_, checks)| checks.len()).sum(), failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
