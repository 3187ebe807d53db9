//! What a chapter is, and what it hands back.

use super::Stage;
use super::check::Failure;

/// A part of the tour: it runs something, checks it, and hands back figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chapter {
    /// What `--chapter` takes.
    pub(crate) name: &'static str,
    /// The headline.
    pub(crate) title: &'static str,
    /// What is going to happen, in one or two sentences.
    pub(crate) about: &'static str,
    /// The chapter of the guide that explains it.
    pub(crate) guide: &'static str,
    /// Its part of the tour's time, compared with the parts of the others.
    pub(crate) share: u32,
    pub(crate) run: fn(&Stage<'_>) -> Outcome,
}

/// What a chapter found, or which check failed.
pub(crate) type Outcome = Result<Findings, Failure>;

/// What a chapter found.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    /// The result, with a figure: a short line.
    pub(crate) result: String,
    /// More about it, line by line.
    pub(crate) notes: Vec<String>,
    pub(crate) measures: Vec<Measure>,
}

/// A figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: Unit,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Count,
    Bytes,
    PerSecond,
    /// The time that one takes. These are the bars of the picture.
    Seconds,
}

impl Unit {
    /// How JSON names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::PerSecond => "per second",
            Self::Seconds => "seconds",
        }
    }
}

impl Findings {
    /// A result without figures and notes.
    pub(crate) fn new(result: impl Into<String>) -> Self {
        Self { result: result.into(), notes: Vec::new(), measures: Vec::new() }
    }

    /// Adds a line that says more.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a figure.
    pub(crate) fn measure(mut self, name: &'static str, value: f64, unit: Unit) -> Self {
        self.measures.push(Measure { name, value, unit });
        self
    }
}
