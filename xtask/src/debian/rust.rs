//! Debian's Rust compiler, unpacked below the target directory. Unlike the installed ones, it comes
//! with an aarch64 standard library, and with the source of std to build it with a sanitizer.
//!
//! It does not know what is compiled with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use super::unpacked::Unpacked;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// An unpacked compiler that is ready to use.
///
/// Beside the unpacked tree there is `bin/`, with wrappers that find the libraries in there.
pub(crate) struct DebianRust {
    unpacked: Unpacked,
}

impl DebianRust {
    /// Unpacks the compiler, unless the newest one is already there.
    pub(crate) fn ensure(context: &Context) -> Result<Self> {
        let unpacked = Unpacked::ensure(context.target.join("debian-rust"), "rustc", resolve)?;
        let this = Self { unpacked };
        this.write_wrappers()?;
        Ok(this)
    }

    /// Returns a command line of the ordinary cargo with this compiler.
    pub(crate) fn cargo(&self, context: &Context, arguments: &[&str]) -> Exec {
        Exec::cargo(context, arguments)
            .env("RUSTC", self.bin().join("rustc"))
            .env("RUSTDOC", self.bin().join("rustdoc"))
    }

    /// Returns where this compiler looks for the libraries of the machine that it runs on.
    pub(crate) fn host_libraries(&self) -> PathBuf {
        self.unpacked.root().join("usr/lib/rustlib/x86_64-unknown-linux-gnu/lib")
    }

    fn bin(&self) -> PathBuf {
        self.unpacked.directory().join("bin")
    }

    fn write_wrappers(&self) -> Result {
        let bin = self.bin();
        fs::create_dir_all(&bin).while_doing(bin.display())?;
        for program in ["rustc", "rustdoc"] {
            write_script(&bin.join(program), &wrapper(program))?;
        }
        Ok(())
    }
}

/// Returns the packages with their versions, as `apt-get download` takes them.
///
/// Two names carry version numbers that move with the compiler; they are read from dependencies.
fn resolve(apt: &Apt) -> Result<Vec<String>> {
    let version = apt.show("rustc-web")?.version;
    let std = dependency(apt, "libstd-rust-web-dev", "libstd-rust-web-")?;
    let llvm = dependency(apt, &std, "libllvm")?;
    let llvm_version = apt.show(&llvm)?.version;
    let of_rust = ["rustc-web", "rust-web-src", "libstd-rust-web-dev", "libstd-rust-web-dev:arm64"];
    let mut packages: Vec<_> = of_rust.iter().map(|name| format!("{name}={version}")).collect();
    packages.extend([format!("{std}={version}"), format!("{std}:arm64={version}")]);
    packages.push(format!("{llvm}={llvm_version}"));
    Ok(packages)
}

fn dependency(apt: &Apt, package: &str, prefix: &str) -> Result<String> {
    let found = apt.show(package)?.depends.into_iter().find(|name| name.starts_with(prefix));
    found.ok_or_else(|| Failure::new(format!("`{package}` no longer depends on a `{prefix}*` package")))
}

/// Returns a script that starts the program. The script finds the tree from its own path, so that a
/// moved target directory keeps working.
fn wrapper(program: &str) -> String {
    format!(
        "#!/bin/sh\n\
         root=\"${{0%/*}}/../root/usr\"\n\
         LD_LIBRARY_PATH=\"$root/lib/x86_64-linux-gnu\" exec \"$root/bin/{program}\" \"$@\"\n"
    )
}

fn write_script(path: &Path, text: &str) -> Result {
    fs::write(path, text).while_doing(path.display())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).while_doing(path.display())
}
