//! `run`: carries out a plan, and writes the results for the user, for programs, and for the next
//! `report`.

use crate::child::{self, Failure, Values};
use crate::foreign::Program;
use crate::machine;
use crate::panel::{self, Panel};
use crate::peers::Home;
use crate::plan::{Choice, Group, Plan};
use crate::progress::Progress;
use crate::record::{self, Extra, Figure, QUICK};
use crate::session;
use crate::workloads::Entry;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Settings of a run.
pub(crate) struct Settings {
    /// Repetitions of each measurement.
    pub(crate) reps: usize,
    /// Whether the run is short, and labelled so.
    pub(crate) quick: bool,
    /// How long a child may take.
    pub(crate) limit: Duration,
    /// A file for the lines, or `-` for standard output.
    pub(crate) json: Option<PathBuf>,
    /// Where the results are kept for `report`.
    pub(crate) results: PathBuf,
}

impl Settings {
    /// Returns the duration of one measurement, which is passed to children.
    fn millis(&self) -> u32 {
        if self.quick { 20 } else { 200 }
    }

    /// Returns what deviates in the whole run.
    fn extra(&self) -> Extra {
        if self.quick { Extra::from([(QUICK.to_owned(), true.into())]) } else { Extra::new() }
    }
}

/// Measures what was chosen. Returns whether all of it succeeded.
pub(crate) fn run(choice: &Choice, settings: &Settings) -> io::Result<bool> {
    let plan = Plan::new(choice, Entry::available);
    plan.skipped.iter().for_each(|line| eprintln!("{line}"));
    let mut sink = Sink::open(settings.json.as_deref())?;
    let launcher = Launcher::new(&plan, settings)?;
    let measurements: usize = plan.groups.iter().map(|group| group.entries.len() * settings.reps).sum();
    let progress = Progress::new(measurements);
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for group in &plan.groups {
        progress.group_started(&heading(group, settings.reps));
        let figures = measure(group, settings, &launcher, &progress, &mut failures);
        progress.aside(|| sink.show(&figures))?;
        all.extend(figures);
    }
    drop(progress);
    keep(&settings.results, &all)?;
    failures.iter().for_each(|failure| eprintln!("failed: {failure}"));
    Ok(failures.is_empty())
}

fn heading(group: &Group, reps: usize) -> String {
    let (threads, peers) = (panel::threads(group.threads), group.entries.len());
    format!("measuring {} on {threads}: {peers} peers, {reps} times each", group.workload.name)
}

/// Measures one group, and adds what failed to `failures`.
fn measure(
    group: &Group,
    settings: &Settings,
    launcher: &Launcher,
    progress: &Progress,
    failures: &mut Vec<String>,
) -> Vec<Figure> {
    let outcomes = session::run(group, settings.reps, |entry| {
        progress.measuring(format!("{} {}", group.workload.name, entry.peer.name));
        let values = launcher.launch(group, entry);
        progress.measured();
        values
    });
    let mut figures = Vec::new();
    for outcome in outcomes {
        match outcome.rows {
            Ok(rows) => figures.extend(session::figures(group, outcome.entry, &rows, &settings.extra())),
            Err(failure) => failures.push(format!(
                "{} with {} on {}: {failure}",
                group.workload.name,
                outcome.entry.peer.name,
                panel::threads(group.threads)
            )),
        }
    }
    figures
}

/// Starts children: this program again, or a foreign one.
struct Launcher {
    own: PathBuf,
    /// Foreign programs by the name of their peer, built before the first measurement; or why the
    /// build failed.
    programs: BTreeMap<&'static str, Result<Program, String>>,
    millis: u32,
    limit: Duration,
}

impl Launcher {
    fn new(plan: &Plan, settings: &Settings) -> io::Result<Self> {
        let mut programs = BTreeMap::new();
        for entry in plan.groups.iter().flat_map(|group| &group.entries) {
            if let Home::Foreign(toolchain) = entry.peer.home {
                programs.entry(entry.peer.name).or_insert_with(|| Program::build(toolchain));
            }
        }
        Ok(Self { own: env::current_exe()?, programs, millis: settings.millis(), limit: settings.limit })
    }

    fn launch(&self, group: &Group, entry: &Entry) -> Result<Values, Failure> {
        let mut command = match self.programs.get(entry.peer.name) {
            Some(Err(problem)) => return Err(Failure::new(format!("cannot be built: {problem}"))),
            Some(Ok(program)) if entry.measure.is_none() => {
                let mut command = program.command();
                command.arg(group.workload.name);
                command
            }
            _ => {
                let mut command = Command::new(&self.own);
                command.args(["one", group.workload.name, entry.peer.name]);
                command
            }
        };
        command.arg(group.threads.to_string()).arg(format!("millis={}", self.millis));
        child::measure(&mut command, self.limit)
    }
}

/// Writes the results of a group as soon as it is done: lines to the requested file, a table to the
/// terminal. If the lines go to standard output, the table goes to standard error.
struct Sink {
    lines: Option<Box<dyn Write>>,
    is_stdout: bool,
}

impl Sink {
    fn open(json: Option<&Path>) -> io::Result<Self> {
        let is_stdout = json == Some(Path::new("-"));
        let named = |error: io::Error, path: &Path| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let lines: Option<Box<dyn Write>> = match json {
            None => None,
            Some(_) if is_stdout => Some(Box::new(io::stdout())),
            Some(path) => Some(Box::new(File::create(path).map_err(|error| named(error, path))?)),
        };
        Ok(Self { lines, is_stdout })
    }

    fn show(&mut self, figures: &[Figure]) -> io::Result<()> {
        if let Some(lines) = &mut self.lines {
            lines.write_all(record::lines(figures).as_bytes())?;
            lines.flush()?;
        }
        let text: String = panel::panels(figures).iter().map(Panel::text).collect();
        if self.is_stdout {
            io::stderr().write_all(text.as_bytes())
        } else {
            io::stdout().write_all(text.as_bytes())
        }
    }
}

/// Returns the file of the last run in its directory.
pub(crate) fn latest(results: &Path) -> PathBuf {
    results.join("latest.json")
}

/// Returns the file beside it that describes the machine of the last run.
pub(crate) fn latest_machine(results: &Path) -> PathBuf {
    results.join("latest.machine")
}

/// Keeps the results for `report`. A run without results leaves the previous ones in place.
fn keep(results: &Path, figures: &[Figure]) -> io::Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(results)?;
    fs::write(latest_machine(results), machine::line() + "\n")?;
    fs::write(latest(results), record::lines(figures))
}
