//! Shows the progress of a run: a bar on a terminal, a line for each group in a file. It always
//! writes to standard error, so that standard output stays free for results.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};

/// The progress of one run.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts with this number of measurements to come.
    pub(crate) fn new(measurements: usize) -> Self {
        let bar = stderr().is_terminal().then(|| bar(measurements as u64));
        Self { bar }
    }

    /// Shows that a group begins.
    pub(crate) fn group_started(&self, line: &str) {
        if self.bar.is_none() {
            eprintln!("{line}");
        }
    }

    /// Shows that a measurement begins.
    pub(crate) fn measuring(&self, name: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(name);
        }
    }

    /// Shows that a measurement has ended.
    pub(crate) fn measured(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Shows lines without tearing the bar. `show` may write to either stream.
    pub(crate) fn aside<R>(&self, show: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(show),
            None => show(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(measurements: u64) -> ProgressBar {
    // The bar is drawn when a measurement begins or ends, never by a thread of its own, which would
    // disturb the measurement.
    let bar = ProgressBar::with_draw_target(Some(measurements), ProgressDrawTarget::stderr());
    let template = "{bar:30} {pos}/{len}  {msg}  [{elapsed} elapsed, about {eta} left]";
    bar.set_style(ProgressStyle::with_template(template).expect("a fixed template"));
    bar
}
