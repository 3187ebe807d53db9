//! The `sinew` program: shows what the runtime has, by running it here and now.

use std::process::ExitCode;

use clap::Parser;

mod check;
mod coroutines;
mod measure;
mod screen;

/// Runs, on this machine, a check of each part that sinew has today, and measures what is worth a figure.
#[derive(Parser)]
#[command(name = "sinew", version)]
struct Arguments {
    /// Leave the measurements out.
    #[arg(long)]
    no_measure: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut screen = screen::Screen::new();
    screen.title();
    let failed = check::run_all(&mut screen, coroutines::CHECKS);
    if !arguments.no_measure {
        measure::show_all(&mut screen);
    }
    screen.verdict(coroutines::CHECKS.len(), failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
