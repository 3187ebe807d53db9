//! Programs that a job needs on the machine: looked for first, and installed only when they are
//! missing, and only as root.
//!
//! It does not know which job needs what; that is beside each job.

use std::os::unix::fs::MetadataExt;

use crate::exec::{Exec, is_on_path};
use crate::failure::{Failure, Result};
use crate::job::Tool;

/// Makes sure that every tool is installed.
///
/// Without root it prints the command to run, and installs nothing.
pub(crate) fn ensure(tools: &[Tool]) -> Result {
    let missing = missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    if !(is_root() && is_on_path("apt-get")) {
        return Err(explanation(&missing));
    }
    apt_get(&["update", "-q"]).run()?;
    apt_get(&["install", "-qq", "-y", "--no-install-recommends"]).args(packages(&missing)).run()?;
    match self::missing(tools) {
        still if still.is_empty() => Ok(()),
        still => Err(explanation(&still)),
    }
}

fn missing(tools: &[Tool]) -> Vec<Tool> {
    tools.iter().copied().filter(|tool| !is_on_path(tool.probe)).collect()
}

/// Returns the packages that bring the tools, each once, in the order of first need.
fn packages(tools: &[Tool]) -> Vec<&'static str> {
    let mut packages = Vec::new();
    for tool in tools {
        if !packages.contains(&tool.package) {
            packages.push(tool.package);
        }
    }
    packages
}

fn explanation(missing: &[Tool]) -> Failure {
    let probes: Vec<_> = missing.iter().map(|tool| tool.probe).collect();
    let packages = packages(missing).join(" ");
    Failure::new(format!("missing: {}; on Debian, as root: apt-get install {packages}", probes.join(", ")))
}

fn apt_get(arguments: &[&str]) -> Exec {
    Exec::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive")
}

/// Returns whether this process is root. The kernel makes a process's directory belong to its
/// effective user, so this needs no foreign call.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Tool = Tool { probe: "sh", package: "dash" };
    const ABSOLUTE: Tool = Tool { probe: "/bin/sh", package: "dash" };
    const NOWHERE: Tool = Tool { probe: "no-such-program", package: "no-such-package" };

    #[test]
    fn a_tool_is_found_by_name_or_by_path() {
        assert!(missing(&[HERE, ABSOLUTE]).is_empty());
        assert!(missing(&[HERE, NOWHERE]) == [NOWHERE]);
    }

    #[test]
    fn the_explanation_names_programs_and_packages_once() {
        let text = explanation(&[NOWHERE, NOWHERE]).to_string();
        assert_eq!(text.matches("no-such-package").count(), 1, "{text}");
    }
}
