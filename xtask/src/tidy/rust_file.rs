//! One Rust source file, as text and as tokens, with the questions that several rules ask of it.

use super::tokens::{self, Token};

/// A source file of the tree.
pub(super) struct RustFile {
    /// The path, relative to the tree's root.
    pub(super) path: String,
    /// The contents.
    pub(super) text: String,
    /// The tokens, comments and strings set apart; empty if the file does not lex.
    pub(super) tokens: Vec<Token>,
    /// The line at which it does not lex.
    pub(super) lex_error: Option<usize>,
}

impl RustFile {
    /// Lexes a file.
    pub(super) fn new(path: &str, text: String) -> Self {
        let (tokens, lex_error) = match tokens::lex(&text) {
            Ok(tokens) => (tokens, None),
            Err(line) => (Vec::new(), Some(line)),
        };
        Self { path: path.to_owned(), text, tokens, lex_error }
    }

    /// Returns whether the compiler puts this file into a library or a program, not into a test.
    pub(super) fn is_shipped(&self) -> bool {
        self.source_path().is_some_and(|path| !is_test_module(path))
    }

    /// Returns whether this is code that users run: shipped, and no test, model or stand-in of a
    /// model.
    pub(super) fn is_product(&self) -> bool {
        let is_check = |part: &str| {
            let stem = part.strip_suffix(".rs").unwrap_or(part);
            stem == "model" || ["_model", "_tests", "_loom"].iter().any(|end| stem.ends_with(end))
        };
        self.is_shipped() && !self.path.split('/').any(is_check)
    }

    /// Returns the path below the crate's `src/`, for files of the workspace's crates.
    pub(super) fn source_path(&self) -> Option<&str> {
        let in_crate = match self.path.strip_prefix("crates/") {
            Some(rest) => rest.split_once('/')?.1,
            None => {
                let rest = self.path.strip_prefix("xtask/")?;
                rest.strip_prefix("init/").unwrap_or(rest)
            }
        };
        in_crate.strip_prefix("src/")
    }

    /// Returns the tokens that are compiled outside tests.
    pub(super) fn shipped_tokens(&self) -> Vec<Token> {
        if self.is_shipped() { tokens::without_tests(&self.tokens) } else { Vec::new() }
    }

    /// Returns the lines of the documentation that opens the file, without their `//!`.
    pub(super) fn header(&self) -> impl Iterator<Item = &str> {
        self.text.lines().map_while(|line| line.strip_prefix("//!"))
    }

    /// Returns the line of the first identifier with this name.
    pub(super) fn line_of_ident(&self, name: &str) -> Option<usize> {
        self.tokens.iter().find(|token| token.is_ident(name)).map(|token| token.line)
    }
}

/// `mod tests;` behind `cfg(test)` is in a file of this name, or in a folder of it.
fn is_test_module(source_path: &str) -> bool {
    source_path.split('/').any(|part| part == "tests" || part == "tests.rs")
}
