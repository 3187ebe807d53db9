//! Coroutines on pooled stacks under valgrind. valgrind must know the stacks: otherwise it takes
//! switches for huge frames, and warns. This file knows only how the example ends, and what
//! valgrind prints.

use std::process::Output;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result};
use crate::job::{Depth, Job, Tool};

/// valgrind reports no error.
pub(crate) const JOB: Job = Job {
    name: "valgrind",
    about: "coroutines on pooled stacks run under valgrind without a complaint",
    depth: Depth::Deep,
    needs: &[Tool { probe: "valgrind", package: "valgrind" }],
    run,
};

const COMPLAINT: &str = "switching stacks";

fn run(context: &Context) -> Result {
    let target = context.target.join("valgrind");
    Exec::cargo(context, &["build", "-p", "sinew-coroutine", "--example", "pooled"])
        .env("RUSTFLAGS", "--cfg sinew_valgrind")
        .env("CARGO_TARGET_DIR", &target)
        .run()?;
    let program = target.join("debug/examples/pooled");
    let options = ["--error-exitcode=1", "--leak-check=full", "--errors-for-leak-kinds=definite"];
    judge(&Exec::new("valgrind").args(options).args([program]).directory(&context.root).capture()?)
}

fn judge(output: &Output) -> Result {
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && !words.contains(COMPLAINT) {
        return Ok(());
    }
    Err(Failure::new(format!("valgrind ended with {}; it said:\n{words}", output.status)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn ended(raw_status: i32, stderr: &str) -> Result {
        let status = ExitStatus::from_raw(raw_status);
        judge(&Output { status, stdout: Vec::new(), stderr: stderr.into() })
    }

    #[test]
    fn a_complaint_or_a_failure_does_not_pass() {
        assert!(ended(0, "ERROR SUMMARY: 0 errors").is_ok());
        assert!(ended(0, "Warning: client switching stacks?").is_err());
        assert!(ended(256, "ERROR SUMMARY: 1 errors").is_err());
    }
}
