//! Programs for a machine that has no libraries: built with cargo, linked statically, found in
//! cargo's messages.
//!
//! It does not know where they will run.

use std::path::PathBuf;

use serde_json::Value;
use sinew_init::Program;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The second flag makes the linker include a function to which std refers weakly, and which a
/// static program would lack. Without it, `exit` does not run the destructors of thread-locals, as
/// it does everywhere else.
const FLAGS: &str = "-Ctarget-feature=+crt-static -Clink-arg=-Wl,--undefined=__cxa_thread_atexit_impl";

/// Test programs of one package.
pub(crate) struct Suite {
    /// The package.
    pub(crate) package: &'static str,
    /// Which of its test programs, in cargo's words: `--lib`, `--test it`.
    pub(crate) targets: &'static [&'static str],
    /// The variables that each program has, by name.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// What each program gets as arguments.
    pub(crate) arguments: &'static [&'static str],
}

/// A program, and the file it was built into.
pub(super) struct Built {
    /// How to run it.
    pub(super) program: Program,
    /// Where it is on the host.
    pub(super) file: PathBuf,
}

impl Suite {
    /// Builds the test programs.
    pub(super) fn build(&self, context: &Context) -> Result<Vec<Built>> {
        let executables = executables(context, &["test", "--no-run", "-p", self.package], self.targets)?;
        Ok(executables.into_iter().map(|executable| self.built(executable)).collect())
    }

    fn built(&self, executable: Executable) -> Built {
        // Programs of several packages may be called `it`.
        let name = format!("{}.{}", self.package, executable.name);
        let pair = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let variables = self.variables.iter().map(pair).collect();
        let arguments = self.arguments.iter().map(|word| word.to_string()).collect();
        Built { program: Program { name, variables, arguments }, file: executable.file }
    }
}

/// Builds the first process of the machine.
pub(super) fn build_init(context: &Context) -> Result<PathBuf> {
    let mut built = executables(context, &["build", "-p", "sinew-init"], &[])?;
    match built.pop() {
        Some(init) if built.is_empty() => Ok(init.file),
        _ => Err(Failure::new("`sinew-init` is no longer one program")),
    }
}

/// A program that cargo says it built.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Executable {
    name: String,
    file: PathBuf,
}

fn executables(context: &Context, verb: &[&str], targets: &[&str]) -> Result<Vec<Executable>> {
    let messages = Exec::cargo(context, verb)
        .args(targets)
        // With a named target, the flags do not apply to build scripts and macros, which cannot be
        // static.
        .args(["--target", TARGET, "--message-format", "json-render-diagnostics"])
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", context.target.join("static"))
        .read_aloud()?;
    let mut executables = in_messages(&messages)?;
    // Cargo names them in the order in which they are done, which varies.
    executables.sort();
    Ok(executables)
}

/// Returns the programs that cargo's messages name, one JSON object a line.
fn in_messages(messages: &str) -> Result<Vec<Executable>> {
    let mut found = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).while_doing("a message of cargo")?;
        let name = message["target"]["name"].as_str();
        let file = message["executable"].as_str();
        found.extend(name.zip(file).map(|(name, file)| Executable { name: name.into(), file: file.into() }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"{"reason":"compiler-artifact","target":{"name":"rustix"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"it"},"executable":"/target/it-1"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn messages_name_the_programs() {
        let expected = Executable { name: "it".to_owned(), file: "/target/it-1".into() };
        assert_eq!(in_messages(MESSAGES).expect("JSON"), [expected]);
        assert!(in_messages("error: no").is_err());
    }
}
