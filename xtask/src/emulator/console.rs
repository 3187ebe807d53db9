//! The output of a machine's console, and its meaning: the reports of the first process, among
//! messages of the kernel and of the tests.
//!
//! Anything missing is a failure: a machine without output has not passed.

use sinew_init::{End, Report};

use crate::failure::{Failure, Result};

/// How many lines of a log a failure shows.
const TAIL: usize = 40;

/// The lines of a console.
pub(super) struct Console {
    lines: Vec<String>,
}

impl Console {
    /// Makes a console that showed these lines.
    pub(super) fn new(lines: Vec<String>) -> Self {
        Self { lines }
    }

    /// Returns all lines, as one text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// Counts the tests that passed.
    ///
    /// # Errors
    ///
    /// A program did not end with success, or the machine did not end after all of them.
    pub(super) fn judge(&self, programs: &[&str]) -> Result<usize> {
        if let Some((line, reason)) = self.reports().find_map(bad_news) {
            return Err(self.failure(reason, line + 1));
        }
        if let Some(name) = programs.iter().find(|name| !self.has_ended(name)) {
            return Err(self.failure_at_end(format!("the machine stopped before `{name}` ended")));
        }
        if !self.reports().any(|(_, report)| report == Report::Done) {
            return Err(self.failure_at_end("the machine stopped before its plan was done"));
        }
        match self.lines.iter().filter_map(|line| passed(line)).sum() {
            0 => Err(self.failure_at_end("no test ran at all")),
            tests => Ok(tests),
        }
    }

    /// Returns a failure that shows the last lines.
    pub(super) fn failure_at_end(&self, reason: impl Into<String>) -> Failure {
        self.failure(reason, self.lines.len())
    }

    /// Returns a failure that shows the lines before the one of this number.
    fn failure(&self, reason: impl Into<String>, end: usize) -> Failure {
        let shown = &self.lines[end.saturating_sub(TAIL)..end];
        Failure::new(format!("{}; the console said:\n  {}", reason.into(), shown.join("\n  ")))
    }

    fn reports(&self) -> impl Iterator<Item = (usize, Report)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(number, line)| Some((number, Report::from_line(line)?)))
    }

    fn has_ended(&self, program: &str) -> bool {
        self.reports().any(|(_, report)| matches!(report, Report::Ended(name, _) if name == program))
    }
}

fn bad_news((line, report): (usize, Report)) -> Option<(usize, String)> {
    let reason = match report {
        Report::Broken(reason) => format!("the machine's first process gave up: {reason}"),
        Report::Ended(name, end) if end != End::Exit(0) => format!("`{name}` ended with {end}"),
        _ => return None,
    };
    Some((line, reason))
}

/// Returns the number in the line with which a test program ends.
fn passed(line: &str) -> Option<usize> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    rest.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [&str; 7] = [
        "[    0.1] a word of the kernel",
        "@sinew started p.it",
        "test a ... ok",
        "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out",
        "",
        "@sinew ended p.it exit 0",
        "@sinew done",
    ];

    fn judge(lines: &[&str]) -> std::result::Result<usize, String> {
        let lines = lines.iter().map(|line| line.to_string()).collect();
        Console::new(lines).judge(&["p.it"]).map_err(|failure| failure.to_string())
    }

    fn with(index: usize, line: &str) -> std::result::Result<usize, String> {
        let mut lines = GOOD;
        lines[index] = line;
        judge(&lines)
    }

    #[test]
    fn a_whole_run_passes_and_its_tests_are_counted() {
        assert_eq!(judge(&GOOD), Ok(12));
    }

    #[test]
    fn a_failed_program_fails_and_its_last_lines_are_shown() {
        let failure = with(5, "@sinew ended p.it exit 101").expect_err("a failed test");
        assert!(failure.starts_with("`p.it` ended with exit 101"), "{failure}");
        assert!(failure.contains("test a ... ok") && !failure.contains("done"), "{failure}");
        let failure = with(5, "@sinew ended p.it signal 11").expect_err("a crash");
        assert!(failure.contains("signal 11"), "{failure}");
    }

    #[test]
    fn a_missing_report_fails() {
        for (index, line) in
            [(5, "@sinew ended p.it ex"), (5, "@sinew ended p.other exit 0"), (6, "@sin"), (3, "")]
        {
            assert!(with(index, line).is_err(), "{line}");
        }
        assert!(judge(&[]).is_err());
        assert!(judge(&["Kernel panic - not syncing"]).is_err_and(|failure| failure.contains("not syncing")));
    }

    #[test]
    fn a_first_process_that_gives_up_is_quoted() {
        let failure = with(1, "@sinew broken /proc: no such device").expect_err("no machine to test on");
        assert!(failure.contains("/proc: no such device"), "{failure}");
    }
}
