//! qemu and a kernel from Debian's archive, unpacked below the target directory.
//!
//! Nothing is installed: as a package, qemu would remove others from the machine. It comes with
//! everything that it depends on, including the C library, so it does not depend on the machine.
//! This file does not know what is booted, and why this kernel.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::debian::apt::Apt;
use crate::debian::unpacked::Unpacked;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// The names of kernel packages before and after their version.
const KERNEL: (&str, &str) = ("linux-image-6.1.", "-cloud-amd64");

/// An emulator that is ready to use, and a kernel for it.
pub(super) struct Packages {
    root: PathBuf,
    kernel: PathBuf,
}

impl Packages {
    /// Unpacks them, unless the newest versions are already unpacked.
    pub(super) fn ensure(context: &Context) -> Result<Self> {
        let unpacked = Unpacked::ensure(context.target.join("emulator"), "qemu with a kernel", resolve)?;
        let root = unpacked.root();
        let kernel = kernel_in(&root.join("boot"))?;
        Ok(Self { root, kernel })
    }

    /// Returns a command line of the emulator, which is started through its own loader and finds
    /// its own libraries.
    pub(super) fn qemu(&self) -> Exec {
        let libraries = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"].map(|part| self.path(part));
        Exec::new(self.path("lib64/ld-linux-x86-64.so.2"))
            .args(["--library-path", &libraries.join(":"), &self.path("usr/bin/qemu-system-x86_64")])
            .args(["-L", &self.path("usr/share/qemu"), "-L", &self.path("usr/share/seabios")])
            .env("QEMU_MODULE_DIR", self.path("usr/lib/x86_64-linux-gnu/qemu"))
    }

    /// Returns the kernel's file.
    pub(super) fn kernel(&self) -> &Path {
        &self.kernel
    }

    fn path(&self, part: &str) -> String {
        self.root.join(part).to_string_lossy().into_owned()
    }
}

fn resolve(apt: &Apt) -> Result<Vec<String>> {
    let (before, after) = KERNEL;
    let kernel = newest(apt.names(before)?, before, after)
        .ok_or_else(|| Failure::new(format!("the machine's package sources have no `{before}*{after}`")))?;
    let version = apt.show(&kernel)?.version;
    let mut packages = apt.closure("qemu-system-x86")?;
    // Without its dependencies: only the kernel's file is needed.
    packages.push(format!("{kernel}={version}"));
    Ok(packages)
}

/// Returns the name with the highest version in it.
fn newest(names: Vec<String>, before: &str, after: &str) -> Option<String> {
    let version = |name: &String| Some(numbers(name.strip_prefix(before)?.strip_suffix(after)?));
    names.into_iter().filter(|name| version(name).is_some()).max_by_key(version)
}

/// Returns the numbers in a version, so that 10 is more than 9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn kernel_in(boot: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(boot).while_doing(boot.display())?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_kernel =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-"));
    paths.find(is_kernel).ok_or_else(|| Failure::new(format!("no kernel in {}", boot.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_is_chosen_by_numbers() {
        let names = ["k-6.1.0-9-cloud", "k-6.1.0-54-cloud", "k-6.1.0-60-cloud-dbg", "k-6.1.0-50-cloud"];
        let names =
            |range: std::ops::Range<usize>| names[range].iter().map(|name| name.to_string()).collect();
        assert_eq!(newest(names(0..4), "k-6.1.", "-cloud").as_deref(), Some("k-6.1.0-54-cloud"));
        assert_eq!(newest(names(2..3), "k-6.1.", "-cloud"), None);
    }
}
