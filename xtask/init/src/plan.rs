//! What the first process is to run: a file with a line per program, the words of a line apart by tabs.
//!
//! It does not know what the programs are, nor how they get to where it says they are.

/// The file that has the plan.
pub const PLAN: &str = "/plan";

/// A program to run, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What reports call it, and its file's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// Where its file is.
    pub fn path(&self) -> String {
        format!("/programs/{}", self.name)
    }

    /// Its line of the plan.
    ///
    /// # Panics
    ///
    /// If a word has a tab or a line break in it, or the name a space: they would come back as something else.
    pub fn to_line(&self) -> String {
        let words: Vec<_> = std::iter::once(&self.name).chain(&self.arguments).map(String::as_str).collect();
        let is_plain = |word: &&str| !word.contains(['\t', '\n', '\r']);
        assert!(words.iter().all(is_plain) && !self.name.contains(' '), "not a line of a plan: {words:?}");
        words.join("\t")
    }

    /// Reads a line of a plan.
    pub fn from_line(line: &str) -> Self {
        let mut words = line.split('\t').map(str::to_owned);
        Self { name: words.next().unwrap_or_default(), arguments: words.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(arguments: &[&str]) -> Program {
        let arguments = arguments.iter().map(|word| word.to_string()).collect();
        Program { name: "it".to_owned(), arguments }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for arguments in [&[][..], &["--skip", "gdb"], &["", "two words"]] {
            let program = program(arguments);
            assert_eq!(Program::from_line(&program.to_line()), program);
        }
    }

    #[test]
    #[should_panic(expected = "not a line of a plan")]
    fn a_word_that_would_fall_apart_is_refused() {
        program(&["a\tb"]).to_line();
    }
}
