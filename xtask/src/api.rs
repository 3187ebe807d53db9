//! `cargo xtask api`: lists the public items of each library crate, so that a review shows every
//! change to them.
//!
//! The lists are committed in `docs/api`. They come from the JSON that rustdoc writes. They leave
//! out blanket implementations, and auto traits, which tests of the crates assert. This command
//! judges no change; it only shows them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::LIBRARIES;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// What to do with the lists.
#[derive(Args, Default)]
pub(crate) struct Lists {
    /// Replace the committed lists by those of the code.
    #[arg(long)]
    write: bool,
}

/// Compares the committed lists with the code, or replaces them.
pub(crate) fn run(context: &Context, lists: &Lists) -> Result {
    let mut changed = Vec::new();
    for library in LIBRARIES {
        let (now, path) = (list(context, library)?, path(&context.root, library));
        if lists.write {
            fs::create_dir_all(path.parent().unwrap_or(&path)).while_doing("making `docs/api`")?;
            fs::write(&path, &now).while_doing(path.display())?;
            continue;
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        let changes = changes(&before, &now);
        changes.iter().for_each(|change| println!("{change}"));
        changed.extend((!changes.is_empty()).then_some(library));
    }
    match changed.as_slice() {
        [] => Ok(()),
        crates => Err(Failure::new(format!(
            "the public items of {} are not those in `docs/api`: `cargo xtask api --write`, and say so in CHANGELOG.md",
            crates.join(", ")
        ))),
    }
}

/// Returns where the list of a crate is committed.
fn path(root: &Path, library: &str) -> PathBuf {
    root.join("docs/api").join(library).with_extension("txt")
}

/// Returns the public items of a crate, one a line.
fn list(context: &Context, library: &str) -> Result<String> {
    // A directory of its own: build scripts look at `RUSTC_BOOTSTRAP`, which is set below.
    let target = context.target.join("api");
    Exec::cargo(
        context,
        &["rustdoc", "--package", library, "--lib", "--all-features", "--quiet", "--target-dir"],
    )
    .args([&target])
    .args(["--", "-Zunstable-options", "--output-format", "json", "--cap-lints", "allow"])
    // JSON is an unstable output of rustdoc.
    .env("RUSTC_BOOTSTRAP", "1")
    .run()?;
    let json = target.join("doc").join(library.replace('-', "_")).with_extension("json");
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .while_doing("reading rustdoc's JSON")?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

/// Returns the lines that only one of two lists has: removed ones and new ones.
fn changes(before: &str, now: &str) -> Vec<String> {
    let [old, new] = [before, now].map(|list| list.lines().collect::<BTreeSet<_>>());
    let gone = old.difference(&new).map(|line| format!("- {line}"));
    gone.chain(new.difference(&old).map(|line| format!("+ {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn removed_and_new_items_are_distinguished() {
        assert_eq!(
            changes("pub fn a()\npub fn b()\n", "pub fn b()\npub fn c()\n"),
            ["- pub fn a()", "+ pub fn c()"]
        );
        assert!(changes("pub fn a()\npub fn b()\n", "pub fn b()\npub fn a()\n").is_empty());
    }
}
