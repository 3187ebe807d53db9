//! A job: a name, what it proves, what it needs installed, and a function.
//!
//! The jobs themselves are in [`crate::jobs`]. How they are chosen and run is in [`crate::ci`].

use crate::context::Context;
use crate::failure::Result;

/// One check of the repository.
pub(crate) struct Job {
    /// The name that `--only` and `--skip` take.
    pub(crate) name: &'static str,
    /// What a pass proves, in one line.
    pub(crate) about: &'static str,
    /// Whether it belongs to every run or to `--deep` ones.
    pub(crate) depth: Depth,
    /// The programs that must be installed before it starts.
    pub(crate) needs: &'static [Tool],
    /// The check.
    pub(crate) run: fn(&Context) -> Result,
}

/// How long a job takes, and so when it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// In every run.
    Quick,
    /// Only with `--deep`, or when named by `--only`.
    Deep,
}

/// A program from outside the Rust toolchain, and the Debian package that brings it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tool {
    /// The file to look for: a name on the path, or an absolute path.
    pub(crate) probe: &'static str,
    /// The package to install when it is missing.
    pub(crate) package: &'static str,
}
