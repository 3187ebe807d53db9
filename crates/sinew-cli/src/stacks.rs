//! The checks of stacks, on the public interface alone. One of them needs a process that dies: this program, started again.

use std::hint::black_box;
use std::process::Command;

use sinew::coroutine::{Coroutine, DEFAULT_STACK_SIZE, GuardKind, Label, StackPool, Suspender, overflow};

use crate::check::{Check, Outcome, expect};

/// In the order they are shown.
pub(crate) const CHECKS: &[Check] = &[
    Check { name: "100,000 guarded stacks at once, and back", run: held },
    Check { name: "memory comes with use, and goes with a trim", run: used },
    Check { name: "an overflow is told by name", run: told },
];

/// The argument that has this program overflow a stack.
pub(crate) const OVERFLOW: &str = "overflow-on-purpose";

const COUNT: usize = 100_000;

fn held() -> Outcome {
    let pool = StackPool::builder().keep(0..=COUNT).build();
    let stacks = (0..COUNT).map(|_| pool.acquire(DEFAULT_STACK_SIZE)).collect::<Result<Vec<_>, _>>();
    if let (Err(error), GuardKind::Protection) = (&stacks, GuardKind::best()) {
        return Ok(format!("not on this kernel: {error}"));
    }
    let stacks = stacks?;
    let guards = match pool.stats().guards_by_protection {
        0 => "guards without mappings of their own",
        _ => "guards by mprotect",
    };
    let resident = mebibytes(pool.resident());
    drop(stacks);
    let trimmed = pool.trim();
    let words = format!("{guards}; {resident} in memory, none being used");
    expect(&(trimmed, pool.stats().reserved), &(COUNT, 0), words)
}

fn used() -> Outcome {
    const USED: usize = 10_000;
    let pool = StackPool::builder().keep(0..=USED).build();
    let mut coroutines = Vec::new();
    for _ in 0..USED {
        let body = |suspender: &Suspender<(), ()>, ()| suspender.suspend(());
        let mut one = Coroutine::new(pool.acquire(DEFAULT_STACK_SIZE)?, body);
        one.resume(());
        coroutines.push(one);
    }
    let running = pool.resident();
    drop(coroutines);
    let trimmed = pool.trim();
    let words = format!("{} with 10,000 suspended, {} after", mebibytes(running), mebibytes(pool.resident()));
    expect(&(trimmed, running > 0), &(USED, true), words)
}

fn mebibytes(bytes: usize) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn told() -> Outcome {
    let output = Command::new(std::env::current_exe()?).arg(format!("--{OVERFLOW}")).output()?;
    let words = String::from_utf8_lossy(&output.stderr);
    let line = words.lines().find(|line| line.contains("stack overflow in diver 7:"));
    match line {
        Some(line) if !output.status.success() => Ok(format!("\"{line}\"")),
        _ => Err(format!("{}: \"{words}\"", output.status).into()),
    }
}

/// Overflows a stack, and the process dies of it.
pub(crate) fn overflow_on_purpose() -> std::io::Result<()> {
    overflow::install()?;
    let mut stack = StackPool::new().acquire(DEFAULT_STACK_SIZE)?;
    stack.set_label(Some(Label::number(&"diver", 7)));
    Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(0);
    Ok(())
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "it is to overflow")]
fn dive(depth: u64) -> u64 {
    black_box(dive(black_box(depth + 1)) + 1)
}
