//! The shape of a machine, and qemu's command line for it.
//!
//! A console and nothing else: no disk, no network. What is booted on it, and what it says, is not known here.

use std::path::Path;

use super::packages::Packages;
use crate::exec::Exec;

/// What a machine is made of.
pub(crate) struct Machine {
    /// Its memory, in the words of qemu's `-m`.
    pub(crate) memory: &'static str,
    /// Its processors, in the words of qemu's `-smp`.
    pub(crate) processors: &'static str,
    /// More of qemu's options, such as those that divide memory and processors into nodes.
    pub(crate) extra: &'static [&'static str],
}

/// Software emulation with everything that it can emulate: hardware virtualisation is not to be had everywhere.
const PROCESSOR: [&str; 4] = ["-accel", "tcg,thread=multi", "-cpu", "max"];

/// The console is qemu's standard output, and a restart, which is how the kernel ends after a panic, ends qemu.
const SURROUNDINGS: [&str; 8] =
    ["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "stdio"];

/// A kernel that stumbles must not go on to pass a test, and one that cannot boot should say so early.
const KERNEL_OPTIONS: &str = "console=ttyS0 earlyprintk=serial oops=panic panic=-1";

impl Machine {
    /// The command line that boots it.
    pub(super) fn boot(&self, packages: &Packages, initrd: &Path) -> Exec {
        packages
            .qemu()
            .args(PROCESSOR)
            .args(SURROUNDINGS)
            .args(["-m", self.memory, "-smp", self.processors])
            .args(self.extra)
            .args(["-kernel".as_ref(), packages.kernel().as_os_str()])
            .args(["-initrd".as_ref(), initrd.as_os_str()])
            .args(["-append", KERNEL_OPTIONS])
    }
}
