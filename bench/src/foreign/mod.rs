//! Peers in other languages. Each is a directory `bench/foreign/NAME` with one program for all its
//! workloads. If its toolchain is installed, the program is built into `bench/target/foreign/NAME`.
//! A toolchain is a sibling file with a unit struct that implements [`Toolchain`].
//! `bench/README.md` says what the programs take and print.

mod boost;
mod go;
mod java;
mod setup;

pub(crate) use boost::Boost;
pub(crate) use go::Go;
pub(crate) use java::Java;
pub(crate) use setup::setup;

use crate::paths;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Builds and starts the peer of one language.
pub(crate) trait Toolchain: Sync {
    /// The name of its directory.
    fn name(&self) -> &'static str;

    /// Looks for the toolchain on this machine.
    ///
    /// # Errors
    ///
    /// What is missing, and how to install it.
    fn find(&self) -> Result<Found, String>;

    /// The command that builds the program from the directory `source` into the directory `out`.
    fn compile(&self, found: &Found, source: &Path, out: &Path) -> Command;

    /// The command that starts the program built into `out`, before its arguments.
    fn start(&self, found: &Found, out: &Path) -> Command;
}

/// A toolchain found on this machine.
pub(crate) struct Found {
    /// The compiler.
    compiler: PathBuf,
    /// The program that runs the peer; if it is empty, the peer runs directly.
    runner: PathBuf,
    /// Its name and version, for people.
    pub(crate) version: String,
}

/// A foreign program that is built.
pub(crate) struct Program {
    toolchain: &'static dyn Toolchain,
    found: Found,
    out: PathBuf,
}

impl Program {
    /// Builds the program unless it exists and is newer than its sources.
    pub(crate) fn build(toolchain: &'static dyn Toolchain) -> Result<Self, String> {
        let found = toolchain.find()?;
        let source = paths::foreign_source(toolchain.name());
        let out = paths::foreign_target().join(toolchain.name());
        let stamp = out.join("stamp");
        if is_stale(&source, &stamp, &found.version)
            .map_err(|error| format!("{}: {error}", source.display()))?
        {
            fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
            eprintln!("building the {} peer with {}", toolchain.name(), found.version);
            output(&mut toolchain.compile(&found, &source, &out))?;
            fs::write(&stamp, &found.version).map_err(|error| format!("{}: {error}", stamp.display()))?;
        }
        Ok(Self { toolchain, found, out })
    }

    /// Returns the command that measures a workload.
    pub(crate) fn command(&self) -> Command {
        self.toolchain.start(&self.found, &self.out)
    }
}

/// Returns whether a source is newer than the stamp, or another version of the toolchain made it.
fn is_stale(source: &Path, stamp: &Path, version: &str) -> io::Result<bool> {
    let newest = newest(source)?;
    let made = fs::metadata(stamp).and_then(|metadata| metadata.modified()).ok();
    let by = fs::read_to_string(stamp).unwrap_or_default();
    Ok(by != version || made.is_none_or(|made| made < newest))
}

/// Returns when the newest of the directory's files was written.
fn newest(directory: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for file in fs::read_dir(directory)? {
        newest = newest.max(file?.metadata()?.modified()?);
    }
    Ok(newest)
}

/// Returns the files of a directory with that extension, in a fixed order.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|file| file.path());
    let mut files: Vec<_> = entries.filter(|path| path.extension() == Some(OsStr::new(extension))).collect();
    files.sort();
    files
}

/// Runs a command of a toolchain to its end. Returns both its streams; the error has them if the
/// command fails.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot start {name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let text = text.trim().to_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{name} ended with {}\n{text}", output.status))
    }
}

/// Returns where programs of that name may be: first in the Python packages that `setup` installs,
/// then on the search path.
fn candidates(package_path: &str, name: &str) -> Vec<PathBuf> {
    let libraries = fs::read_dir(venv().join("lib")).into_iter().flatten().flatten();
    let installed = libraries.map(|library| library.path().join("site-packages").join(package_path));
    let path = env::var_os("PATH").unwrap_or_default();
    let search = env::split_paths(&path).map(|directory| directory.join(name)).collect::<Vec<_>>();
    installed.chain(search).filter(|program| program.is_file()).collect()
}

/// Returns the Python environment that `setup` makes.
fn venv() -> PathBuf {
    paths::foreign_target().join("venv")
}

/// Returns the first two numbers of a version in the text, such as 1 and 23 in `go1.23.4`.
fn version(text: &str) -> Option<(u32, u32)> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let mut numbers = text[start..].split(|c: char| !c.is_ascii_digit());
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{is_stale, version};
    use std::fs;
    use std::time::{Duration, SystemTime};

    #[test]
    fn versions_are_found_in_text() {
        assert_eq!(version("go version go1.27.3 linux/amd64"), Some((1, 27)));
        assert_eq!(version("openjdk version \"25\" 2025"), Some((25, 0)));
        assert_eq!(version("none"), None);
    }

    #[test]
    fn a_program_is_stale_until_its_stamp_is_newer_and_of_this_version() {
        let directory = std::env::temp_dir().join(format!("sinew-bench-stale-{}", std::process::id()));
        let (source, stamp) = (directory.join("source"), directory.join("stamp"));
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("a.c"), "").unwrap();
        assert!(is_stale(&source, &stamp, "1").unwrap());
        fs::write(&stamp, "1").unwrap();
        assert!(!is_stale(&source, &stamp, "1").unwrap());
        assert!(is_stale(&source, &stamp, "2").unwrap());
        let later = SystemTime::now() + Duration::from_secs(60);
        fs::File::open(source.join("a.c")).unwrap().set_modified(later).unwrap();
        assert!(is_stale(&source, &stamp, "1").unwrap());
        fs::remove_dir_all(directory).unwrap();
    }
}
