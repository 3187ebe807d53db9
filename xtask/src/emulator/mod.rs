//! Tests on an emulated machine, with a kernel and a shape of its own.
//!
//! A trial builds test programs without dependencies, packs them with a first process into an
//! initial file system, boots, and reads from the console how each ended. The jobs say which tests,
//! which machine and why.
//!
//! Files below the target directory: `emulator/` has the unpacked packages, and for each trial its
//! initial file system and the log of its console; `static/` has the programs.

mod console;
mod cpio;
mod initrd;
mod machine;
mod packages;
mod suite;
mod watch;

use std::fs;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use console::Console;
pub(crate) use machine::Machine;
use packages::Packages;
use suite::Built;
pub(crate) use suite::Suite;
use watch::Watched;

use crate::context::Context;
use crate::failure::{Result, While};

/// Tests, and the machine to run them on.
pub(crate) struct Trial {
    /// The name of its files.
    pub(crate) name: &'static str,
    /// The machine.
    pub(crate) machine: Machine,
    /// The tests.
    pub(crate) suites: &'static [Suite],
    /// A machine that still runs after this time has failed.
    pub(crate) limit: Duration,
}

impl Trial {
    /// Builds the programs, boots the machine and judges its output.
    pub(crate) fn run(&self, context: &Context) -> Result {
        let packages = Packages::ensure(context)?;
        let programs = self.build(context)?;
        let init = suite::build_init(context)?;
        let initrd = self.file(context, "initrd");
        fs::write(&initrd, initrd::archive(&init, &programs)?).while_doing(initrd.display())?;

        let start = Instant::now();
        let child = self.machine.boot(&packages, &initrd).start()?;
        let Watched { lines, status } = watch::watch(child, self.limit)?;
        let console = Console::new(lines);
        self.keep(context, &console)?;
        self.require_end(status, &console)?;
        let names: Vec<_> = programs.iter().map(|built| built.program.name.as_str()).collect();
        let tests = console.judge(&names)?;
        println!("{tests} tests passed in {}, {:.1} s", names.join(", "), start.elapsed().as_secs_f64());
        Ok(())
    }

    fn build(&self, context: &Context) -> Result<Vec<Built>> {
        let mut programs = Vec::new();
        for suite in self.suites {
            programs.extend(suite.build(context)?);
        }
        Ok(programs)
    }

    fn file(&self, context: &Context, extension: &str) -> PathBuf {
        context.target.join("emulator").join(self.name).with_extension(extension)
    }

    fn keep(&self, context: &Context, console: &Console) -> Result {
        let log = self.file(context, "log");
        println!("the machine's console is in {}", log.display());
        fs::write(&log, console.text()).while_doing(log.display())
    }

    /// Requires that the emulator has ended by itself. How the tests went is another question.
    fn require_end(&self, status: Option<ExitStatus>, console: &Console) -> Result {
        let reason = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("the emulator ended with {status}"),
            None => format!("the machine still ran after {} s", self.limit.as_secs()),
        };
        Err(console.failure_at_end(reason))
    }
}
