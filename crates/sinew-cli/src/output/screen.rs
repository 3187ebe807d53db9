//! Standard output, shared by the thread that shows chapters and the one that waits for Ctrl-C.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal::{Style, Terminal};
use super::text::{length, wrap};

/// Standard output. Text goes through here, so that it never meets half a bar.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal,
    has_bars: bool,
    bar: Mutex<Option<ProgressBar>>,
}

/// Columns beside a bar: before it, for the percentage, and for the `^C` that a terminal writes
/// where the cursor is. With that on a line of its own, the bar would not be on the line that is
/// cleared.
const AROUND_BAR: usize = 6 + 6 + 5;

/// A bar on the screen's last line. It goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Bar<'a> {
    screen: &'a Screen,
    bar: ProgressBar,
}

impl Screen {
    /// Text and bars, as far as the terminal has a place for them.
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal, has_bars: terminal.is_styled(), bar: Mutex::new(None) }
    }

    /// The same without bars: for JSON, where nothing else may be on standard output.
    pub(crate) fn without_bars(terminal: Terminal) -> Self {
        Self { has_bars: false, ..Self::new(terminal) }
    }

    pub(crate) fn terminal(&self) -> Terminal {
        self.terminal
    }

    /// Writes a line as it is.
    pub(crate) fn line(&self, line: &str) {
        let _lock = self.lock();
        // If the reader is gone, the exit status still tells the outcome.
        let _ = writeln!(io::stdout(), "{line}");
    }

    /// Writes a paragraph. The first line begins with `first`, the others with as many spaces.
    pub(crate) fn paragraph(&self, first: &str, style: Style, text: &str) {
        self.painted(first, style, style, text);
    }

    /// Writes a paragraph whose beginning has a style of its own.
    pub(crate) fn painted(&self, first: &str, of_first: Style, style: Style, text: &str) {
        let indent = length(first);
        let lines = wrap(text, self.terminal.width().saturating_sub(indent));
        for (index, line) in lines.iter().enumerate() {
            let begin = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            let (begin, line) = (self.terminal.paint(of_first, &begin), self.terminal.paint(style, line));
            self.line(format!("{begin}{line}").trim_end());
        }
    }

    /// Shows a bar that is full at `total`.
    pub(crate) fn bar(&self, total: u64) -> Bar<'_> {
        let target = if self.has_bars { ProgressDrawTarget::stdout() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total.max(1)), target);
        let width = self.terminal.width() - AROUND_BAR;
        let template = format!("      {{bar:{width}.cyan/black.bright}} {{percent:>3}} %");
        // An error would be seen by the first test that shows a bar.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        *self.lock() = Some(bar.clone());
        bar.tick();
        Bar { screen: self, bar }
    }

    /// Takes the bar away, says why, and ends the process. Nothing is written after that.
    pub(crate) fn leave(&self, why: &str, status: i32) -> ! {
        let mut shown = self.lock();
        if let Some(bar) = shown.take() {
            bar.finish_and_clear();
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        // The bars of today leave the cursor visible; those of a later version may not.
        let restored = if self.terminal.is_styled() { "\x1b[?25h\x1b[0m" } else { "" };
        let mut stdout = io::stdout().lock();
        let _ = write!(stdout, "{restored}").and_then(|()| stdout.flush());
        let _ = writeln!(io::stderr(), "{why}");
        std::process::exit(status)
    }

    fn lock(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bar<'_> {
    /// Shows how far it is.
    pub(crate) fn set(&self, position: u64) {
        // Under the lock, so that it draws nothing after [`Screen::leave`] has cleared the line.
        let _lock = self.screen.lock();
        self.bar.set_position(position);
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        let mut shown = self.screen.lock();
        self.bar.finish_and_clear();
        *shown = None;
    }
}
