//! The source rules: the promises of the layout, checked on every file.
//!
//! A rule is a function from a [`Tree`] to [`Finding`]s, in a file of its own. To add one: write
//! the file, name it in [`RULES`], and give it `xtask/fixtures/<rule>/bad`, `good` and
//! `expected.txt`. A test refuses a rule that has not been seen failing. Rules know text and
//! tokens, never types: a check that needs the compiler is a lint.

mod finding;
mod listing;
mod module_graph;
mod paths;
mod prose;
mod rust_file;
pub(crate) mod token_count;
mod tokens;
mod tree;

mod captured_threads;
mod clock;
mod compile_fail;
mod crate_layers;
mod file_header;
mod file_size;
mod glob_reexports;
mod guide;
mod ignorance;
mod ignore_reasons;
mod lexes;
mod lib_rs;
mod lint_reasons;
mod macro_mods;
mod map;
mod markdown_links;
mod module_cycles;
mod module_layers;
mod plain_words;
mod prose_width;
mod sync_files;
mod thread_locals;
mod unsafe_files;

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::failure::{Failure, Result};
use finding::Finding;
use tree::Tree;

/// One rule: its name, which is also its file's and its fixture's, and the check.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

static RULES: &[Rule] = &[
    Rule { name: "lexes", check: lexes::check },
    Rule { name: "crate_layers", check: crate_layers::check },
    Rule { name: "module_layers", check: module_layers::check },
    Rule { name: "module_cycles", check: module_cycles::check },
    Rule { name: "ignorance", check: ignorance::check },
    Rule { name: "file_header", check: file_header::check },
    Rule { name: "unsafe_files", check: unsafe_files::check },
    Rule { name: "sync_files", check: sync_files::check },
    Rule { name: "thread_locals", check: thread_locals::check },
    Rule { name: "captured_threads", check: captured_threads::check },
    Rule { name: "clock", check: clock::check },
    Rule { name: "file_size", check: file_size::check },
    Rule { name: "lib_rs", check: lib_rs::check },
    Rule { name: "macro_mods", check: macro_mods::check },
    Rule { name: "glob_reexports", check: glob_reexports::check },
    Rule { name: "lint_reasons", check: lint_reasons::check },
    Rule { name: "compile_fail", check: compile_fail::check },
    Rule { name: "ignore_reasons", check: ignore_reasons::check },
    Rule { name: "map", check: map::check },
    Rule { name: "markdown_links", check: markdown_links::check },
    Rule { name: "guide", check: guide::check },
    Rule { name: "plain_words", check: plain_words::check },
    Rule { name: "prose_width", check: prose_width::check },
];

/// Checks the repository, and prints findings and notes. Findings that are not notes are a failure.
pub(crate) fn run(root: &Path) -> Result {
    let tree = Tree::read(root)?;
    let mut failures = 0;
    for rule in RULES {
        for finding in (rule.check)(&tree) {
            failures += usize::from(!finding.is_note());
            println!("{finding} [{}]", rule.name);
        }
    }
    println!("tidy: {} files, {} rules, to fix: {failures}", tree.file_count(), RULES.len());
    if failures == 0 { Ok(()) } else { Err(Failure::new(format!("places to fix: {failures}"))) }
}

/// Prints the modules of a crate that name each other in a circle, and where; or all that name
/// another.
pub(crate) fn print_modules(root: &Path, package: &str, all: bool) -> Result {
    module_cycles::print(&Tree::read(root)?, package, all);
    Ok(())
}
