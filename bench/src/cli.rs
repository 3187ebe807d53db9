//! The command line. Scripts use it, so its commands, options and exit codes must stay: 0 when all
//! went well, 1 when something failed, 2 for an unknown name, 3 when a tool that the command needs
//! is missing.

use crate::callgrind;
use crate::compare;
use crate::foreign;
use crate::list;
use crate::pace::Pace;
use crate::paths;
use crate::peers::{self, Peer};
use crate::plan::Choice;
use crate::record;
use crate::report;
use crate::run::{self, Settings};
use crate::workloads::{self, Job, http};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures sinew against its peers, in one run, on one machine.
#[derive(Parser)]
#[command(name = "sinew-bench")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the workloads with their metrics, and the peers available on this machine.
    List,
    /// Measure every workload with every peer, or the given ones.
    Run(RunArgs),
    /// Compare two runs, from their JSON lines.
    Compare {
        /// The earlier run.
        before: PathBuf,
        /// The later run.
        after: PathBuf,
    },
    /// Plot the last run, or the runs in these files, as SVG with a summary in Markdown.
    Report {
        /// Files of JSON lines [default: the last run].
        files: Vec<PathBuf>,
        /// The directory to write to [default: bench/target/report].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Install the toolchains of the peers in other languages.
    Setup,
    /// Count the instructions of the hot paths under valgrind.
    Callgrind(CallgrindArgs),
    /// Make one measurement in this process: `run` starts its children with this.
    #[command(hide = true)]
    One(OneArgs),
    /// Run a path of fibers in this process: `callgrind` starts its children with this.
    #[command(hide = true)]
    Go(GoArgs),
    /// Answer requests until this process is ended: the workload `http` starts its servers with
    /// this.
    #[command(hide = true)]
    ServeHttp(ServeArgs),
}

#[derive(Args)]
struct RunArgs {
    /// Workloads to measure [default: all].
    #[arg(value_name = "WORKLOAD", value_parser = PossibleValuesParser::new(workload_names()))]
    workloads: Vec<String>,
    /// A peer to measure (repeatable) [default: all].
    #[arg(long = "peer", value_name = "NAME", value_parser = PossibleValuesParser::new(peer_names()))]
    peers: Vec<String>,
    /// A number of threads to measure with (repeatable) [default: that of the workload].
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Vec<usize>,
    /// Repetitions of each measurement [default: 7, quick: 3].
    #[arg(long, value_name = "N", value_parser = positive)]
    reps: Option<usize>,
    /// Make a short run, to see that everything works; its figures are labelled and not for
    /// quoting.
    #[arg(long)]
    quick: bool,
    /// Write JSON lines to this file; with `-`, write them, and nothing else, to standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Seconds that one child may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, hide = true)]
    limit: f64,
    /// Where the results are kept for `report`.
    #[arg(long, value_name = "DIR", hide = true)]
    results: Option<PathBuf>,
}

#[derive(Args)]
struct CallgrindArgs {
    /// Fail if a path of ours costs more than the committed baseline allows.
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Make these counts the new baseline.
    #[arg(long)]
    bless: bool,
}

#[derive(Args)]
struct ServeArgs {
    #[arg(value_parser = PossibleValuesParser::new(peer_names()))]
    peer: String,
    #[arg(value_parser = positive)]
    threads: usize,
}

#[derive(Args)]
struct GoArgs {
    path: String,
    settings: Vec<String>,
}

#[derive(Args)]
struct OneArgs {
    #[arg(value_parser = PossibleValuesParser::new(workload_names()))]
    workload: String,
    #[arg(value_parser = PossibleValuesParser::new(peer_names()))]
    peer: String,
    #[arg(value_parser = positive)]
    threads: usize,
    settings: Vec<String>,
}

fn workload_names() -> Vec<&'static str> {
    workloads::ALL.iter().map(|workload| workload.name).collect()
}

fn peer_names() -> Vec<&'static str> {
    peers::ALL.iter().map(|peer| peer.name).collect()
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let usable = |&seconds: &f64| Duration::try_from_secs_f64(seconds).is_ok();
    text.parse().ok().filter(usable).ok_or_else(|| "expected a number of seconds".to_owned())
}

/// Reads the command line, runs the command and returns its exit code. A reader that closes our
/// output early is no failure.
pub(crate) fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn dispatch(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::List => print(&list::text())?,
        Command::Run(args) => return run_command(args),
        Command::Compare { before, after } => {
            print(&compare::text(&record::read(&before)?, &record::read(&after)?))?;
        }
        Command::Report { files, out } => {
            let written = report::write(&files, &out.unwrap_or_else(paths::report))?;
            written.iter().try_for_each(|path| print(&format!("{}\n", path.display())))?;
        }
        Command::Setup => return Ok(code(foreign::setup())),
        Command::Callgrind(CallgrindArgs { check, bless }) => return callgrind_command(check, bless),
        Command::One(args) => one(&args)?,
        Command::Go(args) => go(&args)?,
        Command::ServeHttp(args) => {
            http::serve(Peer::find(&args.peer).ok_or("no such peer")?, args.threads)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn code(all_well: bool) -> ExitCode {
    if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

fn run_command(mut args: RunArgs) -> Result<ExitCode, Box<dyn Error>> {
    args.threads.sort_unstable();
    args.threads.dedup();
    let choice = Choice { workloads: args.workloads, peers: args.peers, threads: args.threads };
    let settings = Settings {
        reps: args.reps.unwrap_or(if args.quick { 3 } else { 7 }),
        quick: args.quick,
        limit: Duration::from_secs_f64(args.limit),
        json: args.json,
        results: args.results.unwrap_or_else(paths::results),
    };
    Ok(code(run::run(&choice, &settings)?))
}

/// Measures in this process and prints lines `metric value`.
fn one(args: &OneArgs) -> Result<(), Box<dyn Error>> {
    let workload = workloads::find(&args.workload).ok_or("no such workload")?;
    if workload.single_threaded && args.threads != 1 {
        return Err("this workload runs on one thread only".into());
    }
    let entry = workload.entry(&args.peer).and_then(|entry| Some((entry.peer, entry.measure?)));
    let (peer, measure) = entry.ok_or("this peer has no part in this program's workload")?;
    let pace = Pace::parse(&args.settings)?;
    let readings = measure(&Job { pace, threads: args.threads, flavour: peer.flavour(), peer });
    readings.iter().try_for_each(|(name, value)| print(&format!("{name} {value}\n")))?;
    Ok(())
}

/// Runs a path of fibers.
fn go(args: &GoArgs) -> Result<(), Box<dyn Error>> {
    match Pace::parse(&args.settings)? {
        Pace::Exactly(times) => Ok(callgrind::go(&args.path, times)?),
        Pace::AtLeast(_) => Err("a path needs a number of operations: iterations=N".into()),
    }
}

fn callgrind_command(check: bool, bless: bool) -> Result<ExitCode, Box<dyn Error>> {
    let mode = match (check, bless) {
        (true, _) => callgrind::Mode::Check,
        (_, true) => callgrind::Mode::Bless,
        _ => callgrind::Mode::Show,
    };
    if !callgrind::is_installed() {
        eprintln!("error: valgrind is not installed; it is needed to count instructions");
        return Ok(ExitCode::from(3));
    }
    Ok(code(callgrind::run(mode)?))
}
