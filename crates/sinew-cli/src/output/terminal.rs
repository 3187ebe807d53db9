//! What standard output can show: how wide it is, and whether colours and bars have a place on it.

use std::env;
use std::io::IsTerminal;

/// Assumed where output is not a terminal, or does not say.
const USUAL_WIDTH: usize = 80;

/// Lines of more columns are tiring to read; text of fewer cannot be laid out.
const WIDTHS: std::ops::RangeInclusive<usize> = 20..=100;

/// Standard output, as it was when the program started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    width: usize,
    is_styled: bool,
}

/// How a piece of text looks on a terminal with colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Notable,
}

impl Terminal {
    /// Asks standard output and the environment.
    pub(crate) fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        let is_terminal = stdout.is_terminal();
        let columns = if is_terminal { rustix::termios::tcgetwinsize(&stdout).ok() } else { None };
        let columns = columns.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0);
        let refused = is_set("NO_COLOR") || env::var_os("TERM").is_some_and(|name| name == "dumb");
        Self::new(columns.unwrap_or(USUAL_WIDTH), is_terminal && !refused)
    }

    /// A terminal with this number of columns. Without style, no escape code is written to it.
    pub(crate) fn new(columns: usize, is_styled: bool) -> Self {
        Self { width: columns.clamp(*WIDTHS.start(), *WIDTHS.end()), is_styled }
    }

    /// Columns that may be used.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// Whether escape codes may be written: colours, and bars that move.
    pub(crate) fn is_styled(self) -> bool {
        self.is_styled
    }

    /// Returns the text in a style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Bad => "31;1",
            Style::Notable => "33",
        };
        if self.is_styled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// An empty variable counts as absent, by the convention of <https://no-color.org>.
fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}
