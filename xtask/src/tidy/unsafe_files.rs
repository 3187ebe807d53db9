//! Unsafe code is on record: the file is on a committed list, lifts the lint with a reason, and has
//! a `# Safety` section to be held to. Whether it holds is not something tokens can tell.
//!
//! Tests, examples and benchmarks need no line in the list, but they need the section.

use super::finding::Finding;
use super::lint_reasons::levels;
use super::listing::Listing;
use super::rust_file::RustFile;
use super::tree::Tree;

const LIST: &str = "xtask/unsafe-files.txt";

/// Finds unsafe code that is not declared, and declarations without unsafe code.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let listing = Listing::read(tree, LIST);
    let with_unsafe = tree.rust.iter().filter_map(|file| Some((file, file.line_of_ident("unsafe")?)));
    let mut findings: Vec<_> =
        with_unsafe.flat_map(|(file, line)| check_file(file, line, &listing)).collect();
    findings.extend(listing.check(|path| {
        tree.rust
            .iter()
            .any(|file| file.path == path && is_source(file) && file.line_of_ident("unsafe").is_some())
    }));
    findings
}

/// Sources proper, in contrast to tests, examples and the benchmarks' workspace.
fn is_source(file: &RustFile) -> bool {
    file.source_path().is_some()
}

fn check_file(file: &RustFile, line: usize, listing: &Listing) -> Vec<Finding> {
    let finding = |message: &str, remedy| Finding::new(&file.path, line, message, remedy);
    let mut findings = Vec::new();
    if is_source(file) && !listing.has(&file.path) {
        findings.push(finding("unsafe code in a file that is not on the list", LIST_IT));
    }
    if is_source(file) && !opts_in(file) {
        findings.push(finding(
            "unsafe code without opting in",
            "add `#![expect(unsafe_code, reason = \"...\")]`",
        ));
    }
    if !file.header().any(|line| line.trim() == "# Safety") {
        findings.push(finding(
            "unsafe code without a `//! # Safety` section",
            "say there what it is trusted with",
        ));
    }
    findings
}

const LIST_IT: &str = "do without, or add `path: reason` to xtask/unsafe-files.txt";

fn opts_in(file: &RustFile) -> bool {
    levels(&file.tokens).any(|level| level.names("unsafe_code") && level.has_reason())
}
