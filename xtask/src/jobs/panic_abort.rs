//! Programs in which a panic cannot unwind. They must abort with a message: one drops a suspended
//! coroutine; in the other a fiber panics after everything else has worked.
//!
//! This file knows only how the examples end, and a few words that they print.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result};
use crate::job::{Depth, Job};

/// The examples abort with an explanation.
pub(crate) const JOB: Job = Job {
    name: "panic-abort",
    about: "with panic=abort, fibers work, and a panic in one or dropping a suspended coroutine aborts and says why",
    depth: Depth::Quick,
    needs: &[],
    run,
};

const SIGABRT: i32 = 6;

/// A program that aborts.
struct Example {
    package: &'static str,
    name: &'static str,
    /// What it prints before, on standard output.
    first: &'static str,
    /// What it prints about its end, on standard error.
    words: &'static [&'static str],
}

const EXAMPLES: [Example; 2] = [
    Example { package: "sinew-coroutine", name: "drop_suspended", first: "", words: &["cannot be unwound"] },
    Example {
        package: "sinew",
        name: "panic_abort",
        first: "all works\n",
        words: &["fiber 'weft' (", "torn"],
    },
];

fn run(context: &Context) -> Result {
    EXAMPLES.iter().try_for_each(|example| example.run(context))
}

impl Example {
    fn run(&self, context: &Context) -> Result {
        let Self { package, name, .. } = self;
        let build = ["build", "-p", package, "--example", name, "--profile", "panic-abort"];
        Exec::cargo(context, &build).run()?;
        let program = context.target.join("panic-abort/examples").join(name);
        let output = Exec::new(&program).directory(&context.root).capture()?;
        self.judge(&output)
    }

    fn judge(&self, output: &Output) -> Result {
        let name = self.name;
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let failure = |what: String| Err(Failure::new(format!("{name} {what}; it said:\n{stdout}{stderr}")));
        if output.status.signal() != Some(SIGABRT) {
            return failure(format!("ended with {} instead of SIGABRT", output.status));
        }
        if stdout != self.first {
            return failure(format!("did not say {:?} and no more", self.first));
        }
        if let Some(missing) = self.words.iter().find(|words| !stderr.contains(**words)) {
            return failure(format!("aborted without saying \"{missing}\""));
        }
        println!("{name} aborted with: {}", stderr.trim());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    fn ended(raw_status: i32, stdout: &str, stderr: &str) -> Result {
        let example = Example { package: "", name: "test", first: "first", words: &["one", "two"] };
        let status = ExitStatus::from_raw(raw_status);
        example.judge(&Output { status, stdout: stdout.into(), stderr: stderr.into() })
    }

    #[test]
    fn only_an_abort_with_all_words_passes() {
        assert!(ended(SIGABRT, "first", "one and two").is_ok());
        assert!(ended(SIGABRT, "first", "only one").is_err());
        assert!(ended(SIGABRT, "", "one and two").is_err());
        assert!(ended(SIGABRT, "first, and more", "one and two").is_err());
        assert!(ended(0, "first", "one and two").is_err());
        assert!(ended(11, "first", "one and two").is_err());
    }
}
