//! What a person sees. Colours where they can be seen, plain text elsewhere. Knows no check.

use std::fmt::Display;
use std::io::IsTerminal;
use std::thread;

/// Standard output, laid out in three columns.
pub(crate) struct Screen {
    colours: bool,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self { colours: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    /// The program, its version and the machine.
    pub(crate) fn title(&self) {
        let (version, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
        println!("{} {version} · {arch} · {workers} CPUs · {build}", self.paint("1", "sinew"));
    }

    /// The start of a part.
    pub(crate) fn heading(&self, words: &str) {
        println!("\n{}", self.paint("1", words));
    }

    /// A check that held, and what it saw.
    pub(crate) fn pass(&self, name: &str, seen: impl Display) {
        println!("  {} {name:<44} {seen}", self.paint("32", "ok  "));
    }

    /// A check that did not hold, and why.
    pub(crate) fn fail(&self, name: &str, why: impl Display) {
        println!("  {} {name:<44} {why}", self.paint("31", "FAIL"));
    }

    /// A measured figure.
    pub(crate) fn figure(&self, name: &str, value: f64, unit: &str) {
        println!("       {name:<44} {value:>8.1} {unit}");
    }

    /// The last line.
    pub(crate) fn verdict(&self, checks: usize, failed: usize) {
        match failed {
            0 => println!("\n{checks} checks, all hold"),
            _ => println!("\n{failed} of {checks} checks {}", self.paint("31", "failed")),
        }
    }

    fn paint(&self, code: &str, words: &str) -> String {
        if self.colours { format!("\x1b[{code}m{words}\x1b[0m") } else { words.to_owned() }
    }
}
