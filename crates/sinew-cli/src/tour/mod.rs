//! The tour: shows in a few seconds, live and checked, what the library does. One chapter, one
//! file; each file is also an example of the API.

mod blocking;
mod channels;
mod coroutines;
mod crashes;
mod fibers;
mod machine;
mod nesting;
mod server;
mod spawning;
mod stopping;
mod timers;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::output::screen::Screen;
use crate::output::terminal::{Style, Terminal};
use crate::output::text::{counted, padded};
use crate::stage::chapter::Chapter;
use crate::stage::report::{self, Shown};
use crate::stage::show::{Clock, show};
use crate::stage::sizes::Sizes;
use crate::stage::{interrupt, role, summary};

/// In the order in which they are shown.
const CHAPTERS: &[Chapter] = &[
    fibers::CHAPTER,
    spawning::CHAPTER,
    nesting::CHAPTER,
    channels::CHAPTER,
    server::CHAPTER,
    timers::CHAPTER,
    stopping::CHAPTER,
    blocking::CHAPTER,
    crashes::CHAPTER,
    coroutines::CHAPTER,
    machine::CHAPTER,
];

/// What of the tour is shown, and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Show everything smaller, in a few seconds.
    #[arg(long)]
    quick: bool,
    /// List the chapters, and show none.
    #[arg(long)]
    list: bool,
    /// Show this chapter only; may be repeated.
    #[arg(long = "chapter", value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    chapters: Vec<String>,
    /// Write a JSON object per chapter, on a line of its own, and nothing else.
    #[arg(long)]
    json: bool,
    /// Draw the picture of the measured times into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The part of a second process, which a chapter has started.
    #[arg(long = role::ARGUMENT, hide = true, value_parser = PossibleValuesParser::new([server::SERVE, crashes::CRASH]))]
    role: Option<String>,
}

fn names() -> Vec<&'static str> {
    CHAPTERS.iter().map(|chapter| chapter.name).collect()
}

/// Shows the tour, or what else the options say.
///
/// # Errors
///
/// If the tour cannot begin, or the picture cannot be written.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    match options.role.as_deref() {
        Some(server::SERVE) => return server::serve().map(|()| ExitCode::SUCCESS),
        Some(_) => return crashes::crash().map(|()| ExitCode::SUCCESS),
        None => {}
    }
    let chosen = chosen(options);
    if options.list {
        list(&chosen, options.json);
        return Ok(ExitCode::SUCCESS);
    }
    // Before anything else, so that a wrong path is told of at once.
    let file = options.svg.as_deref().map(create).transpose()?;
    let all = show_all(options, &chosen)?;
    if let Some((mut file, path)) = file {
        file.write_all(summary::picture(&all, &this_program()).as_bytes())
            .map_err(|error| about(error, &path))?;
    }
    let has_failed = all.iter().any(|shown| shown.outcome.is_err());
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn chosen(options: &Options) -> Vec<Chapter> {
    let is_chosen = |chapter: &&Chapter| {
        options.chapters.is_empty() || options.chapters.iter().any(|name| name == chapter.name)
    };
    CHAPTERS.iter().filter(is_chosen).copied().collect()
}

fn list(chapters: &[Chapter], as_json: bool) {
    let screen = Screen::without_bars(Terminal::of_stdout());
    let widest = names().iter().map(|name| name.len()).max().unwrap_or(0);
    for chapter in chapters {
        if as_json {
            screen.line(&report::described(chapter).end());
        } else {
            let name = format!("{}  ", padded(chapter.name, widest));
            screen.painted(&name, Style::Bold, Style::Plain, chapter.title);
        }
    }
}

fn show_all(options: &Options, chosen: &[Chapter]) -> io::Result<Vec<Shown>> {
    let terminal = Terminal::of_stdout();
    let screen = if options.json { Screen::without_bars(terminal) } else { Screen::new(terminal) };
    let screen = Arc::new(screen);
    interrupt::watch(&screen)?;
    let sizes = Sizes::of_this_machine(options.quick);
    let mut clock = Clock::new(sizes, CHAPTERS, chosen);
    if !options.json {
        open(&screen, chosen.len(), clock.planned());
    }
    let mut all = Vec::new();
    for (index, chapter) in chosen.iter().enumerate() {
        if !options.json {
            report::announce(&screen, chapter, index + 1, chosen.len());
        }
        let shown = show(&screen, chapter, sizes, clock.next(chapter));
        if options.json {
            screen.line(&report::object(&shown).end());
        } else {
            report::tell(&screen, &shown);
        }
        all.push(shown);
    }
    if !options.json {
        summary::tell(&screen, &all, clock.elapsed());
    }
    Ok(all)
}

/// The first lines.
fn open(screen: &Screen, chapters: usize, planned: Duration) {
    screen.paragraph("", Style::Bold, &this_program());
    // Chapters do a little before and after what is timed.
    let seconds = counted(1 + planned.as_secs(), "second");
    let chapters = counted(chapters as u64, "chapter");
    screen.paragraph("", Style::Plain, &format!("{chapters}, about {seconds}. Ctrl-C ends the tour."));
    if cfg!(debug_assertions) {
        let advice = "This is a debug build, so the figures mean little: use `cargo run --release`.";
        screen.paragraph("", Style::Notable, advice);
    }
}

/// The program, its version and the machine, in one line.
fn this_program() -> String {
    let (version, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let cpus = counted(thread::available_parallelism().map_or(1, usize::from) as u64, "CPU");
    let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
    format!("sinew {version}, {arch}, {cpus}, {build}")
}

fn create(path: &Path) -> io::Result<(File, PathBuf)> {
    let file = File::create(path).map_err(|error| about(error, path))?;
    Ok((file, path.to_owned()))
}

fn about(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}
