//! Tests the program as its users see it: commands, streams and exit codes. No test asserts a time.

mod callgrind;
mod compare;
mod list;
mod report;
mod run;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// The result of a command.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program with these arguments.
fn bench<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Outcome {
    outcome(program().args(args))
}

/// Returns the program, for a test that changes more than its arguments.
fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sinew-bench"))
}

fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program prints UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A directory for one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = env::temp_dir().join(format!("sinew-bench-{}-{test}", process::id()));
        fs::create_dir_all(&path).expect("a directory can be made");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into it with the lines of one figure, and returns its path.
    fn figure(&self, name: &str, peer: &str, [median, min, max]: [f64; 3]) -> PathBuf {
        let line = |stat: &str, value: f64| {
            format!(
                r#"{{"peer":"{peer}","workload":"switch","threads":1,"metric":"ns","stat":"{stat}","value":{value},"n":7}}"#
            ) + "\n"
        };
        let path = self.0.join(name);
        let text = line("median", median) + &line("min", min) + &line("max", max);
        fs::write(&path, text).expect("a file can be written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that stays in the temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
