//! Dropping a suspended coroutine where a panic cannot unwind: the process must die, loudly.
//!
//! Only the outside is known here: how the example ends, and a few words that it says.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result};
use crate::job::{Depth, Job};

/// The example aborts with an explanation.
pub(crate) const JOB: Job = Job {
    name: "panic-abort",
    about: "with panic=abort, dropping a suspended coroutine aborts and says why",
    depth: Depth::Quick,
    needs: &[],
    run,
};

const SIGABRT: i32 = 6;
const WORDS: &str = "cannot be unwound";

fn run(context: &Context) -> Result {
    let build = ["build", "-p", "sinew-coroutine", "--example", "drop_suspended", "--profile", "panic-abort"];
    Exec::cargo(context, &build).run()?;
    let program = context.target.join("panic-abort/examples/drop_suspended");
    let output = Exec::new(&program).directory(&context.root).capture()?;
    judge(&output)
}

fn judge(output: &Output) -> Result {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.signal() != Some(SIGABRT) {
        let ended = output.status;
        return Err(Failure::new(format!("ended with {ended} instead of SIGABRT; stderr:\n{stderr}")));
    }
    if !stderr.contains(WORDS) {
        return Err(Failure::new(format!("aborted without saying \"{WORDS}\"; stderr:\n{stderr}")));
    }
    println!("aborted with: {}", stderr.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    fn ended(raw_status: i32, stderr: &str) -> Result {
        let status = ExitStatus::from_raw(raw_status);
        judge(&Output { status, stdout: Vec::new(), stderr: stderr.into() })
    }

    #[test]
    fn only_an_abort_with_the_words_passes() {
        assert!(ended(SIGABRT, "a suspended coroutine cannot be unwound here").is_ok());
        assert!(ended(SIGABRT, "memory allocation failed").is_err());
        assert!(ended(0, "cannot be unwound").is_err());
        assert!(ended(11, "cannot be unwound").is_err());
    }
}
