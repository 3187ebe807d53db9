//! The reports of the first process: lines on the console, among other output, for the host to
//! read.
//!
//! It does not judge: an exit code is passed on as it is.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The prefix of every report, and of no other line.
const MARK: &str = "@sinew ";

/// One thing that happened inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The program of this name is about to start.
    Started(String),
    /// The program of this name has ended.
    Ended(String, End),
    /// Something failed that is not a program's fault, and nothing more will be run.
    Broken(String),
    /// The plan is done, and the machine is about to power off.
    Done,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        // A process that was waited for has one or the other.
        status.code().map_or_else(|| Self::Signal(status.signal().unwrap_or_default()), Self::Exit)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(number) => write!(f, "signal {number}"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)?;
        match self {
            Self::Started(name) => write!(f, "started {name}"),
            Self::Ended(name, end) => write!(f, "ended {name} {end}"),
            Self::Broken(reason) => write!(f, "broken {}", reason.replace('\n', " ")),
            Self::Done => f.write_str("done"),
        }
    }
}

impl Report {
    /// Reads a line of the console, if it is a whole report.
    pub fn from_line(line: &str) -> Option<Self> {
        let text = line.strip_prefix(MARK)?.trim_end();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, rest) {
            ("started", name) => Some(Self::Started(name.to_owned())),
            ("ended", rest) => ended(rest),
            ("broken", reason) => Some(Self::Broken(reason.to_owned())),
            ("done", "") => Some(Self::Done),
            _ => None,
        }
    }
}

fn ended(text: &str) -> Option<Report> {
    let mut words = text.split(' ');
    let (name, kind, number) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
    let end = match kind {
        "exit" => End::Exit(number),
        "signal" => End::Signal(number),
        _ => return None,
    };
    words.next().is_none().then(|| Report::Ended(name.to_owned(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back() {
        let reports = [
            Report::Started("it".to_owned()),
            Report::Ended("it".to_owned(), End::Exit(101)),
            Report::Ended("it".to_owned(), End::Signal(11)),
            Report::Broken("no plan".to_owned()),
            Report::Done,
        ];
        for report in reports {
            let line = format!("{report}\r");
            assert_eq!(Report::from_line(&line), Some(report), "{line}");
        }
    }

    #[test]
    fn other_lines_and_incomplete_ones_are_no_reports() {
        for line in
            ["test a ... ok", "ended it exit 0", "@sinew ended it exit", "@sinew ended it exit 0 [ 1.0]"]
        {
            assert_eq!(Report::from_line(line), None, "{line}");
        }
    }
}
