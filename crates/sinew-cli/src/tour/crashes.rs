//! A panic and a stack overflow, both of which name their fiber. The overflow ends its process, so
//! a second one is sent ahead.

use std::hint::black_box;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use sinew::fiber;
use sinew::signal::Signal;

use crate::machine::limits;
use crate::output::text::without_folders;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{Failure, check, check_equal};
use crate::stage::role;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "crashes",
    title: "A panic and a stack overflow that name their fiber",
    about: "A second process joins a fiber that panics, and then overflows the stack of another one, of which it dies.",
    guide: "panics-and-shutdown.md",
    share: 1,
    run,
};

/// The part of the second process.
pub(super) const CRASH: &str = "crash";

/// Panics in one fiber, goes on, and overflows the stack of another one.
pub(super) fn crash() -> io::Result<()> {
    limits::forbid_core_files()?;
    sinew::run(|| {
        let order = fiber::Builder::new().name("order 42".to_owned());
        let outcome = order.spawn(|| panic!("out of stock"))?.join();
        let message = outcome.err().and_then(|payload| payload.downcast_ref::<&str>().copied());
        println!("joined: {}", message.unwrap_or("no message"));

        let parser = fiber::Builder::new().name("parser 7".to_owned());
        let depth = parser.spawn(|| dive(0))?.join();
        println!("not reached: {depth:?}");
        Ok(())
    })
}

#[expect(unconditional_recursion, reason = "it is to overflow")]
fn dive(depth: u64) -> u64 {
    black_box(dive(black_box(depth + 1)) + 1)
}

fn run(stage: &Stage<'_>) -> Outcome {
    let bar = stage.bar(1);
    let Output { status, stdout, stderr } = role::start(CRASH)?.wait_with_output()?;
    drop(bar);
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));

    check_equal("what the process printed", &*stdout, "joined: out of stock\n")?;
    let panic = line_with(&stderr, &["fiber 'order 42'", "panicked"])?;
    let overflow = line_with(&stderr, &["stack overflow in fiber 'parser 7'"])?;
    check(status.signal() == Some(Signal::ABORT.as_raw()), || format!("the process ended with {status}"))?;
    Ok(Findings::new("2 crashes, and both reports name the fiber")
        .note(format!("\"{}\"", without_folders(panic)))
        .note(format!("\"{}\"", without_folders(overflow)))
        .measure("crashes that named their fiber", 2.0, Unit::Count))
}

/// The line of a report that has all these words.
fn line_with<'a>(report: &'a str, words: &[&str]) -> Result<&'a str, Failure> {
    let line = report.lines().find(|line| words.iter().all(|word| line.contains(word)));
    line.ok_or_else(|| format!("no line has {words:?} in: {report}").into())
}
