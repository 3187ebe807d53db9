//! apt with package lists and architectures of its own, so that asking for arm64 packages changes
//! nothing on the machine and needs no root.
//!
//! It does not know which packages are wanted, nor what they are used for. Sources and keys are the
//! machine's.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// A private view of the machine's package sources.
pub(crate) struct Apt {
    config: PathBuf,
}

/// What the archive says about the best version of a package.
pub(crate) struct Package {
    /// Its version.
    pub(crate) version: String,
    /// The names of packages that it depends on, first alternatives only.
    pub(crate) depends: Vec<String>,
}

impl Apt {
    /// Sets up a view that keeps everything below `directory`.
    pub(crate) fn below(directory: &Path) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(directory.join(part)).while_doing(directory.display())?;
        }
        let config = directory.join("apt.conf");
        fs::write(&config, configuration(directory)).while_doing(config.display())?;
        Ok(Self { config })
    }

    /// Brings the package lists up to date; quick when nothing changed.
    pub(crate) fn update(&self) -> Result {
        self.exec("apt-get").args(["update", "-q"]).run()
    }

    /// Looks a package up.
    pub(crate) fn show(&self, package: &str) -> Result<Package> {
        let show = self.exec("apt-cache").args(["show", "--no-all-versions", package]);
        let text = show.read().map_err(|_| unknown(package))?;
        let version = field(&text, "Version").ok_or_else(|| unknown(package))?.to_owned();
        let depends = field(&text, "Depends").unwrap_or_default();
        Ok(Package { version, depends: names(depends) })
    }

    /// Returns the names of all packages that begin with `prefix`.
    pub(crate) fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let names = self.exec("apt-cache").args(["pkgnames", prefix]).read()?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// Returns a package and all that it needs, each as `name=version`, including what the machine
    /// has.
    pub(crate) fn closure(&self, package: &str) -> Result<Vec<String>> {
        let simulation = self
            .exec("apt-get")
            .args(["install", "--simulate", "-qq", "--no-install-recommends", package])
            // As if no package were installed.
            .args(["-o", "Dir::State::status=/dev/null"]);
        let text = simulation.read()?;
        Ok(text.lines().filter_map(to_install).collect())
    }

    /// Fetches package files into a directory, verified as apt verifies them.
    pub(crate) fn download(&self, packages: &[String], into: &Path) -> Result {
        self.exec("apt-get").args(["download", "-q"]).args(packages).directory(into).run()
    }

    fn exec(&self, program: &str) -> Exec {
        Exec::new(program).env("APT_CONFIG", &self.config)
    }
}

/// Returns the configuration. As root, apt would download as the user `_apt`, who cannot write
/// below the target directory.
fn configuration(directory: &Path) -> String {
    let directory = directory.display();
    format!(
        "APT::Architectures {{ \"amd64\"; \"arm64\"; }};\n\
         APT::Sandbox::User \"root\";\n\
         Dir::State::lists \"{directory}/lists\";\n\
         Dir::Cache \"{directory}/cache\";\n"
    )
}

fn unknown(package: &str) -> Failure {
    Failure::new(format!("the machine's package sources have no `{package}`"))
}

/// Returns the package that a line of a simulation would install: `Inst name (version archive
/// [architecture])`.
fn to_install(line: &str) -> Option<String> {
    let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
    let version = rest.strip_prefix('(')?.split_whitespace().next()?;
    Some(format!("{name}={version}"))
}

/// Returns a field of the first paragraph of control data.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Returns the names in a dependency field, without versions and without alternatives.
fn names(depends: &str) -> Vec<String> {
    let names = depends.split(',').filter_map(|clause| clause.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROL: &str = "Package: x\nVersion: 1.96.0+dfsg1\nDepends: libc6 (>= 2.34), libllvm22, a | b\n";

    #[test]
    fn control_data_is_read() {
        assert_eq!(field(CONTROL, "Version"), Some("1.96.0+dfsg1"));
        assert_eq!(names(field(CONTROL, "Depends").unwrap_or_default()), ["libc6", "libllvm22", "a"]);
        assert_eq!(field(CONTROL, "Pre-Depends"), None);
    }

    #[test]
    fn a_simulation_names_what_it_would_install() {
        let line = "Inst libusb-1.0-0 (2:1.0.26-1 Debian:12.15/oldstable [amd64]) []";
        assert_eq!(to_install(line).as_deref(), Some("libusb-1.0-0=2:1.0.26-1"));
        assert_eq!(to_install(&line.replace("Inst", "Conf")), None);
    }
}
