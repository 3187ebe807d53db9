//! The plan of the first process: a file with a line for each program, the words of a line
//! separated by tabs. As in a shell, variables come before the program's name.
//!
//! It does not know what the programs are, nor how their files get to their paths.

/// The path of the plan.
pub const PLAN: &str = "/plan";

/// A program to run, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name in reports, and of its file.
    pub name: String,
    /// Its variables besides those of the first process.
    pub variables: Vec<(String, String)>,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// Returns the path of its file.
    pub fn path(&self) -> String {
        format!("/programs/{}", self.name)
    }

    /// Returns its line in the plan.
    ///
    /// # Panics
    ///
    /// A word contains a tab or a line break, the program's name a space or the sign `=`, or a
    /// variable's name that sign: they would be read back as something else.
    pub fn to_line(&self) -> String {
        let mut words: Vec<_> =
            self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.push(self.name.clone());
        words.extend(self.arguments.iter().cloned());
        let are_plain = words.iter().all(|word| !word.contains(['\t', '\n', '\r']));
        let are_named = self.variables.iter().all(|(name, _)| !name.contains('='));
        let is_plan = are_plain && are_named && !self.name.contains([' ', '=']);
        assert!(is_plan, "not a line of a plan: {words:?}");
        words.join("\t")
    }

    /// Reads a line of a plan.
    pub fn from_line(line: &str) -> Self {
        let mut words = line.split('\t').peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let mut words = words.map(str::to_owned);
        Self { variables, name: words.next().unwrap_or_default(), arguments: words.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(arguments: &[&str]) -> Program {
        let arguments = arguments.iter().map(|word| word.to_string()).collect();
        Program { name: "it".to_owned(), variables: Vec::new(), arguments }
    }

    fn with_variable(name: &str, value: &str) -> Program {
        Program { variables: vec![(name.to_owned(), value.to_owned())], ..program(&["a=b"]) }
    }

    #[test]
    fn a_line_reads_back() {
        for arguments in [&[][..], &["--skip", "gdb"], &["", "two words"]] {
            let program = program(arguments);
            assert_eq!(Program::from_line(&program.to_line()), program);
        }
        for value in ["", "2", "a=b c"] {
            let program = with_variable("NODES", value);
            assert_eq!(Program::from_line(&program.to_line()), program);
        }
    }

    #[test]
    #[should_panic(expected = "not a line of a plan")]
    fn a_word_with_a_separator_is_refused() {
        program(&["a\tb"]).to_line();
    }

    #[test]
    #[should_panic(expected = "not a line of a plan")]
    fn a_variable_with_a_separator_is_refused() {
        with_variable("a=b", "c").to_line();
    }
}
