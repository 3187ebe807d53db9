//! What `cargo publish` needs: packages that build, descriptions, licences, versions that are true.
//! Knows nothing about what the crates do.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};
use crate::job::{Depth, Job};

/// Each crate can be packaged and describes itself, and its dependencies are free to use, are there
/// once, and work in the oldest versions that the manifests allow.
pub(crate) const JOB: Job = Job {
    name: "publish",
    about: "crates can be packaged; licences fit; no duplicates; the oldest allowed dependencies work",
    depth: Depth::Deep,
    needs: &[],
    run,
};

/// The licences that dependencies may have. An expression passes if it names one of them.
const LICENCES: [&str; 8] =
    ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0", "Unlicense"];

/// What the manifest of each published crate says, beside its name and version.
const FIELDS: [&str; 6] = ["description", "license", "readme", "rust_version", "keywords", "categories"];

/// Dependencies for other systems are not looked at.
const PLATFORM: &str = "--filter-platform=x86_64-unknown-linux-gnu";

fn run(context: &Context) -> Result {
    let text =
        Exec::cargo(context, &["metadata", "--format-version=1", "--all-features", PLATFORM]).read()?;
    let metadata: Value = serde_json::from_str(&text).while_doing("cargo metadata")?;
    let problems = [undescribed(&metadata), unfree(&metadata)].concat();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("; ")));
    }
    require_no_duplicates(context)?;
    package(context, &metadata)?;
    check_oldest_versions(context)
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// The crates of the workspace that are published.
fn published(metadata: &Value) -> impl Iterator<Item = &Value> {
    packages(metadata).filter(|package| package["source"].is_null() && package["publish"].is_null())
}

fn undescribed(metadata: &Value) -> Vec<String> {
    let missing = |package: &Value| {
        let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let fields = FIELDS.iter().filter(|field| is_empty(&package[**field]));
        fields.map(|field| format!("{} has no `{field}`", package["name"])).collect::<Vec<_>>()
    };
    published(metadata).flat_map(missing).collect()
}

fn unfree(metadata: &Value) -> Vec<String> {
    let is_free = |package: &&Value| {
        let licence = package["license"].as_str().unwrap_or_default();
        let mut names = licence.split([' ', '/', '(', ')']);
        !names.any(|name| LICENCES.contains(&name))
    };
    let foreign = packages(metadata).filter(|package| !package["source"].is_null());
    foreign
        .filter(is_free)
        .map(|package| format!("{} has licence {}", package["name"], package["license"]))
        .collect()
}

/// Two versions of one crate would both be built by every user.
fn require_no_duplicates(context: &Context) -> Result {
    let arguments = ["tree", "--package=sinew", "--package=sinew-cli", "--edges=normal", "--prefix=none"];
    let tree = Exec::cargo(context, &arguments).args(["--all-features", "--format={p}"]).read_aloud()?;
    let crates: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name, version(rest)))
        .collect();
    let names: Vec<_> = crates.iter().map(|(name, _)| *name).collect();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    if twice.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("there in two versions: {}", twice.join(", "))))
    }
}

fn version(rest: &str) -> &str {
    rest.split(' ').next().unwrap_or(rest)
}

/// Packages all crates as they would be published, and builds them from that.
fn package(context: &Context, metadata: &Value) -> Result {
    let names: Vec<_> = published(metadata).filter_map(|package| package["name"].as_str()).collect();
    Exec::cargo(context, &["package", "--allow-dirty", "--quiet"])
        .args(names.iter().flat_map(|name| ["--package", name]))
        .run()
}

/// The published crates in a workspace of their own, whose lock file has the oldest versions.
fn check_oldest_versions(context: &Context) -> Result {
    let place = context.target.join("oldest");
    fs::create_dir_all(&place).while_doing(place.display())?;
    for name in ["crates", "README.md"] {
        link(&context.root.join(name), &place.join(name))?;
    }
    let manifest = fs::read_to_string(context.root.join("Cargo.toml")).while_doing("Cargo.toml")?;
    fs::write(place.join("Cargo.toml"), only_crates(&manifest)).while_doing(place.display())?;
    let cargo = |arguments: &[&str]| {
        Exec::new("cargo")
            .args(["+nightly"])
            .args(arguments)
            .directory(&place)
            .env("CARGO_TARGET_DIR", &context.target)
    };
    cargo(&["-Zdirect-minimal-versions", "generate-lockfile", "--quiet"]).run()?;
    cargo(&["check", "--package=sinew", "--package=sinew-cli", "--all-features", "--quiet"]).run()
}

fn link(from: &Path, to: &Path) -> Result {
    match symlink(from, to) {
        Err(problem) if problem.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked.while_doing(to.display()),
    }
}

/// The root manifest, with the crates as its only members.
fn only_crates(manifest: &str) -> String {
    let kept = |line: &&str| !["default-members", "exclude"].iter().any(|key| line.starts_with(key));
    let lines = manifest.lines().filter(kept);
    let lines = lines.map(|line| if line.starts_with("members") { "members = [\"crates/*\"]" } else { line });
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::{only_crates, undescribed, unfree};
    use serde_json::json;

    #[test]
    fn a_crate_describes_itself() {
        let bare = json!({"packages": [{"name": "a", "description": "d", "license": "MIT", "readme": "R",
            "rust_version": "1.95", "keywords": [], "categories": ["c"]}]});
        assert_eq!(undescribed(&bare), ["\"a\" has no `keywords`"]);
        let private = json!({"packages": [{"name": "a", "publish": []}]});
        assert!(undescribed(&private).is_empty());
    }

    #[test]
    fn licences_are_read_as_expressions() {
        let of = |licence: &str| json!({"packages": [{"name": "a", "source": "s", "license": licence}]});
        let free = ["MIT OR GPL-3.0", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"];
        assert!(free.into_iter().all(|licence| unfree(&of(licence)).is_empty()));
        assert_eq!(unfree(&of("GPL-3.0")), ["\"a\" has licence \"GPL-3.0\""]);
    }

    #[test]
    fn members_are_the_crates_alone() {
        let manifest = "[workspace]\nmembers = [\"a\", \"b\"]\nexclude = [\"c\"]\n[workspace.package]\n";
        assert_eq!(only_crates(manifest), "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\n");
    }
}
