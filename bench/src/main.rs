//! Measures sinew against its peers. Every figure is a ratio inside one run on one machine, in
//! which peers are interleaved.
//!
//! The parts, in reading order: a [`workloads`] table says what can be measured and for which
//! [`peers`]. A [`plan`] chooses from it. A [`session`] runs each measurement in a [`child`]
//! process. A [`record`] is the result. A [`panel`], [`compare`] and [`report`] show it.
//! [`callgrind`] counts instructions instead of time.

mod bell;
mod callgrind;
mod child;
mod cli;
mod companion;
mod compare;
mod countdown;
mod crowd;
mod foreign;
mod list;
mod machine;
mod mapping;
mod pace;
mod panel;
mod paths;
mod peers;
mod plan;
mod progress;
mod record;
mod report;
mod run;
mod runtimes;
mod session;
mod stats;
mod table;
mod timer_thread;
mod ucontext;
mod usage;
mod workloads;
mod wrk;
mod yielder;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
