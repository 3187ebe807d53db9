//! The first process of an emulated machine. It mounts what programs expect, runs the programs of
//! the plan one after the other, reports on the console, and powers the machine off.
//!
//! It must be linked statically, since the machine has no other files than those of the plan. It
//! does not know what it runs, and judges nothing.

use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use rustix::termios::tcdrain;
use sinew_init::{PLAN, Program, Report};

/// What is mounted, and where. The directories exist in the initial file system.
const MOUNTS: [(&str, &str); 4] =
    [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")];

/// The kernel shows messages of a level below the number in this file on the console.
const CONSOLE_LEVEL: &str = "/proc/sys/kernel/printk";

fn main() {
    // This program powers the machine off at its end. It must not do so when it is started by hand.
    if std::process::id() != 1 || !fs::exists(PLAN).unwrap_or(false) {
        eprintln!("sinew-init: made to be the first process of an emulated machine, and of nothing else");
        std::process::exit(2);
    }
    say(&match run() {
        Ok(()) => Report::Done,
        Err(reason) => Report::Broken(reason),
    });
    power_off();
}

fn run() -> Result<(), String> {
    for (kind, place) in MOUNTS {
        mount(kind, place, kind, MountFlags::empty(), None).map_err(|error| format!("{place}: {error}"))?;
    }
    // From here on the kernel shows only errors: a message in the middle of a report would make it
    // unreadable.
    fs::write(CONSOLE_LEVEL, "4").map_err(|error| format!("{CONSOLE_LEVEL}: {error}"))?;
    let plan = fs::read_to_string(PLAN).map_err(|error| format!("{PLAN}: {error}"))?;
    plan.lines().map(Program::from_line).try_for_each(|program| run_one(&program))
}

fn run_one(program: &Program) -> Result<(), String> {
    say(&Report::Started(program.name.clone()));
    let mut command = Command::new(program.path());
    let variables = program.variables.iter().map(|(name, value)| (name, value));
    command.args(&program.arguments).envs(variables).stdin(Stdio::null());
    let status = command.status().map_err(|error| format!("{}: {error}", program.path()))?;
    say(&Report::Ended(program.name.clone(), status.into()));
    Ok(())
}

/// Writes a report to the console. A program may have left the console in the middle of a line, so
/// a report brings its own line breaks. If it cannot be written, the host notices that it is
/// missing.
fn say(report: &Report) {
    let _ = io::stdout().write_all(format!("\n{report}\n").as_bytes());
    let _ = io::stdout().flush();
}

/// Powers the machine off, once the console has sent everything: what it still holds would be lost.
fn power_off() {
    let _ = tcdrain(io::stdout());
    let _ = reboot(RebootCommand::PowerOff);
    // A machine without a power switch ends by a restart, which the emulator takes for the end.
    let _ = reboot(RebootCommand::Restart);
}
