//! Debian's Rust compiler, unpacked below the target directory: the one compiler at hand that brings an
//! aarch64 standard library, and the source of std to build it anew with a sanitizer.
//!
//! It is kept until the archive has another version. It does not know what is compiled with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use crate::context::Context;
use crate::exec::{Exec, is_on_path};
use crate::failure::{Failure, Result, While};

/// An unpacked compiler that is ready to use.
///
/// Layout below its directory: `root/` the unpacked packages, `bin/` wrappers that find the libraries in there,
/// `apt/` package lists, `packages.txt` what `root/` was made from.
pub(crate) struct DebianRust {
    directory: PathBuf,
}

impl DebianRust {
    /// Unpacks the compiler, unless the newest one is already there.
    pub(crate) fn ensure(context: &Context) -> Result<Self> {
        require_host()?;
        let this = Self { directory: context.target.join("debian-rust") };
        match this.newest()? {
            Some(packages) if packages != this.unpacked() => this.unpack(&packages)?,
            Some(_) => println!("Debian's rustc is already unpacked, and current"),
            None => println!("note: the archive cannot be reached; using the rustc unpacked earlier"),
        }
        this.write_wrappers()?;
        Ok(this)
    }

    /// A command line of the ordinary cargo with this compiler.
    pub(crate) fn cargo(&self, context: &Context, arguments: &[&str]) -> Exec {
        Exec::cargo(context, arguments)
            .env("RUSTC", self.directory.join("bin/rustc"))
            .env("RUSTDOC", self.directory.join("bin/rustdoc"))
    }

    /// Where this compiler looks for the libraries of the machine that it runs on.
    pub(crate) fn host_libraries(&self) -> PathBuf {
        self.root().join("usr/lib/rustlib/x86_64-unknown-linux-gnu/lib")
    }

    fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    fn stamp(&self) -> PathBuf {
        self.directory.join("packages.txt")
    }

    /// The packages that `root/` was made from; none when it is missing or half made.
    fn unpacked(&self) -> Vec<String> {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        stamp.lines().map(str::to_owned).collect()
    }

    /// The packages to have, or nothing if the archive cannot say but older ones are here.
    fn newest(&self) -> Result<Option<Vec<String>>> {
        let apt = self.apt()?;
        match apt.update() {
            Err(failure) if self.unpacked().is_empty() => Err(failure),
            Err(_) => Ok(None),
            Ok(()) => resolve(&apt).map(Some),
        }
    }

    fn apt(&self) -> Result<Apt> {
        Apt::below(&self.directory.join("apt"))
    }

    fn unpack(&self, packages: &[String]) -> Result {
        let debs = self.directory.join("debs");
        // The stamp goes first and comes back last: whatever happens between, no half tree is taken for whole.
        let _ = fs::remove_file(self.stamp());
        for stale in [&self.root(), &debs] {
            let _ = fs::remove_dir_all(stale);
            fs::create_dir_all(stale).while_doing(stale.display())?;
        }
        self.apt()?.download(packages, &debs)?;
        for deb in list(&debs)? {
            Exec::new("dpkg-deb").args(["-x".as_ref(), deb.as_os_str(), self.root().as_os_str()]).run()?;
        }
        fs::remove_dir_all(&debs).while_doing(debs.display())?;
        fs::write(self.stamp(), packages.join("\n")).while_doing(self.stamp().display())
    }

    fn write_wrappers(&self) -> Result {
        let bin = self.directory.join("bin");
        fs::create_dir_all(&bin).while_doing(bin.display())?;
        for program in ["rustc", "rustdoc"] {
            write_script(&bin.join(program), &wrapper(program))?;
        }
        Ok(())
    }
}

/// The packages with their versions, as `apt-get download` takes them.
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

fn require_host() -> Result {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new("this job uses Debian's x86-64 compiler, and this machine is another"));
    }
    match ["apt-get", "apt-cache", "dpkg-deb"].into_iter().find(|program| !is_on_path(program)) {
        Some(program) => {
            Err(Failure::new(format!("this job unpacks Debian's compiler and needs `{program}`")))
        }
        None => Ok(()),
    }
}

fn list(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).while_doing(directory.display())?;
    entries.map(|entry| Ok(entry.while_doing(directory.display())?.path())).collect()
}

/// The script finds the tree from its own place, so that a moved target directory keeps working.
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
