//! A tree of files unpacked from packages, below the target directory. Nothing is installed, and
//! root is not needed.
//!
//! The tree is kept until the archive has other versions. This file does not know what the files
//! are for.

use std::fs;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use crate::exec::{Exec, is_on_path};
use crate::failure::{Failure, Result, While};

/// An unpacked tree that is ready to use.
///
/// Layout below its directory: `root/` the files, `apt/` package lists, `packages.txt` what `root/`
/// was made from.
pub(crate) struct Unpacked {
    directory: PathBuf,
}

impl Unpacked {
    /// Unpacks the packages that `resolve` chooses, unless these versions are already unpacked.
    /// Packages are named as `apt-get download` takes them. `what` describes them in messages.
    pub(crate) fn ensure(
        directory: PathBuf,
        what: &str,
        resolve: impl FnOnce(&Apt) -> Result<Vec<String>>,
    ) -> Result<Self> {
        require_host()?;
        let this = Self { directory };
        match this.newest(resolve)? {
            Some(packages) if packages != this.unpacked() => this.unpack(&packages)?,
            Some(_) => println!("Debian's {what} is already unpacked, and current"),
            None => println!("note: the archive cannot be reached; using the {what} unpacked earlier"),
        }
        Ok(this)
    }

    /// Returns the directory that has it all. Callers may keep files of their own beside the tree.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns where the packages' files are, as if it were `/`.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    fn stamp(&self) -> PathBuf {
        self.directory.join("packages.txt")
    }

    /// Returns the packages that `root/` was made from; none when it is missing or incomplete.
    fn unpacked(&self) -> Vec<String> {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        stamp.lines().map(str::to_owned).collect()
    }

    /// Returns the packages to unpack; none if the archive cannot be asked but older ones are
    /// unpacked.
    fn newest(&self, resolve: impl FnOnce(&Apt) -> Result<Vec<String>>) -> Result<Option<Vec<String>>> {
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
        // The stamp is removed first and written last. So an incomplete tree is never taken for a
        // complete one.
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
}

fn require_host() -> Result {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new("this job uses Debian's x86-64 packages, and this machine is another"));
    }
    match ["apt-get", "apt-cache", "dpkg-deb"].into_iter().find(|program| !is_on_path(program)) {
        Some(program) => {
            Err(Failure::new(format!("this job unpacks Debian's packages and needs `{program}`")))
        }
        None => Ok(()),
    }
}

fn list(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).while_doing(directory.display())?;
    entries.map(|entry| Ok(entry.while_doing(directory.display())?.path())).collect()
}
