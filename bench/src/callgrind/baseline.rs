//! The committed instruction counts. The file is text: the compiler first, then one line for each
//! path.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Instructions of each path, for one compiler.
pub(super) struct Baseline {
    rustc: String,
    counts: BTreeMap<String, f64>,
}

/// A new count compared with the baseline's.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Equal, or within the tolerance.
    Same,
    /// Less by more than the tolerance.
    Cheaper,
    /// More by more than the tolerance.
    Dearer,
    /// The baseline has no count for this path.
    Unknown,
}

/// The head of the file, for its readers.
const COMMENT: &str =
    "# Instructions of one operation, counted by callgrind; rewritten by `callgrind --bless`.";

impl Baseline {
    /// Makes a baseline without counts.
    pub(super) fn new(rustc: &str) -> Self {
        Self { rustc: rustc.to_owned(), counts: BTreeMap::new() }
    }

    /// Returns the compiler that made the counts.
    pub(super) fn rustc(&self) -> &str {
        &self.rustc
    }

    /// Adds the count of a path.
    pub(super) fn insert(&mut self, path: &str, instructions: f64) {
        self.counts.insert(path.to_owned(), instructions);
    }

    /// Returns the count of a path.
    pub(super) fn get(&self, path: &str) -> Option<f64> {
        self.counts.get(path).copied()
    }

    /// Compares a new count of the path with the baseline's. The tolerance is one instruction or
    /// one in a hundred, whichever is larger.
    pub(super) fn verdict(&self, path: &str, counted: f64) -> Verdict {
        let Some(blessed) = self.get(path) else { return Verdict::Unknown };
        let tolerance = f64::max(1.0, blessed / 100.0);
        // Counts are kept with two digits. Add a little, so that a count on the edge does not fail
        // by rounding.
        match counted - blessed {
            more if more > tolerance + 0.005 => Verdict::Dearer,
            more if more < -tolerance - 0.005 => Verdict::Cheaper,
            _ => Verdict::Same,
        }
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{COMMENT}\n", self.rustc);
        for (path, instructions) in &self.counts {
            writeln!(text, "{path} {instructions:.2}").expect("writing to a string never fails");
        }
        text
    }

    /// Reads the text of the file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let mut baseline = Self::new(lines.next().ok_or("the baseline is empty")?);
        for line in lines {
            let garbled = || format!("the baseline has the line '{line}', which is not 'path count'");
            let (path, instructions) = line.split_once(' ').ok_or_else(garbled)?;
            baseline.insert(path, instructions.trim().parse().map_err(|_| garbled())?);
        }
        Ok(baseline)
    }
}

#[cfg(test)]
mod tests {
    use super::{Baseline, Verdict};

    #[test]
    fn text_reads_back() {
        let mut baseline = Baseline::new("rustc 1.95.0 x86_64");
        baseline.insert("switch/sinew", 23.0);
        baseline.insert("create/sinew", 60.5);
        let read = Baseline::parse(&baseline.text()).unwrap();
        assert_eq!(read.rustc(), "rustc 1.95.0 x86_64");
        assert_eq!(read.get("switch/sinew"), Some(23.0));
        assert_eq!(read.get("create/sinew"), Some(60.5));
        assert_eq!(read.text(), baseline.text());
    }

    #[test]
    fn bad_text_is_refused() {
        assert!(Baseline::parse("").is_err());
        assert!(Baseline::parse("rustc\nswitch/sinew").is_err());
        assert!(Baseline::parse("rustc\nswitch/sinew many").is_err());
    }

    #[test]
    fn one_instruction_or_one_in_a_hundred_is_tolerated() {
        let mut baseline = Baseline::new("rustc");
        baseline.insert("short", 20.0);
        baseline.insert("long", 1000.0);
        let verdicts = |path, counts: [f64; 4]| counts.map(|count| baseline.verdict(path, count));
        let expected = [Verdict::Same, Verdict::Dearer, Verdict::Same, Verdict::Cheaper];
        assert_eq!(verdicts("short", [21.0, 21.1, 19.0, 18.9]), expected);
        assert_eq!(verdicts("long", [1010.0, 1011.0, 990.0, 989.0]), expected);
        assert_eq!(baseline.verdict("other", 1.0), Verdict::Unknown);
    }
}
