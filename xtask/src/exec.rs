//! Runs one program: echoes the command line, gives it no input, and describes a failure in a
//! sentence.
//!
//! It does not know what it runs; the caller gives environment and arguments.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use crate::context::Context;
use crate::failure::{Failure, Result, While};

/// A command line about to run in the repository's root.
pub(crate) struct Exec {
    command: Command,
    /// Variables set for this command, shown before it so that the line can be repeated by hand.
    shown_env: String,
}

impl Exec {
    /// Starts a command line with a program.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        // A check must not wait for an answer that no user will give.
        command.stdin(Stdio::null());
        Self { command, shown_env: String::new() }
    }

    /// Returns a command line of cargo, run in the root of the repository.
    pub(crate) fn cargo(context: &Context, arguments: &[&str]) -> Self {
        Self::new("cargo").args(arguments).directory(&context.root)
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.shown_env.push_str(&format!("{name}={} ", quoted(value.as_ref())));
        self.command.env(name, value);
        self
    }

    /// Chooses the directory to run in.
    pub(crate) fn directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs it with our own output streams. Any exit code but 0 is a failure.
    pub(crate) fn run(mut self) -> Result {
        self.echo();
        let status = self.command.status().while_doing(self.program())?;
        self.require_success(status)
    }

    /// Runs it and returns its output without showing it. Any exit code but 0 is a failure.
    pub(crate) fn read(mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output().while_doing(self.program())?;
        self.require_success(output.status)?;
        String::from_utf8(output.stdout).while_doing(self.program())
    }

    /// Runs it, echoed, and returns standard output. Standard error is passed through.
    pub(crate) fn read_aloud(self) -> Result<String> {
        self.echo();
        self.read()
    }

    /// Runs, echoed, and returns everything, however the program ended.
    pub(crate) fn capture(mut self) -> Result<Output> {
        self.echo();
        self.command.output().while_doing(self.program())
    }

    /// Starts it, echoed, with standard output as a pipe. Standard error is passed through.
    pub(crate) fn start(mut self) -> Result<Child> {
        self.echo();
        self.command.stdout(Stdio::piped()).spawn().while_doing(self.program())
    }

    fn echo(&self) {
        println!("$ {}{}", self.shown_env, self.line());
    }

    fn program(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    fn line(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    fn require_success(&self, status: ExitStatus) -> Result {
        if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}`: {status}", self.line()))) }
    }
}

/// Quotes a word enough for a line to be pasted into a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{word}'") }
}

/// Returns whether a program of this name can be started, found as a shell would find it.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
