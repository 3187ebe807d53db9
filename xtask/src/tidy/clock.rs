//! Library code reads the time in one file of each crate, so that a simulation can replace the
//! clock. Tests, models and programs may use std's clock. Rules know no types: any method named
//! `elapsed` counts as one of std's.

use super::finding::Finding;
use super::paths::{PathUse, paths};
use super::rust_file::RustFile;
use super::tokens::Token;
use super::tree::Tree;

const LIBRARIES: [&str; 4] = [
    "crates/sinew/src/",
    "crates/sinew-sched/src/",
    "crates/sinew-coroutine/src/",
    "crates/sinew-topology/src/",
];

const HOMES: [&str; 3] = [
    "crates/sinew/src/rt/base/clock.rs",
    "crates/sinew-sched/src/clock.rs",
    "crates/sinew-coroutine/src/clock.rs",
];

const REMEDY: &str = "call `rt::now` of sinew, or the clock that the pool of a pillar was built with";

/// Returns the places where library code reads std's clock outside [`HOMES`].
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust.iter().filter(|file| is_bound(file)).flat_map(check_file).collect()
}

fn is_bound(file: &RustFile) -> bool {
    let is_library = LIBRARIES.iter().any(|source| file.path.starts_with(source));
    is_library && file.is_product() && !HOMES.contains(&file.path.as_str())
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let tokens = file.shipped_tokens();
    let read = |line, what: &str| {
        Finding::new(&file.path, line, format!("`{what}` reads the clock of the system"), REMEDY)
    };
    let named = paths(file, &tokens).into_iter().filter_map(|path| match use_of(&path)? {
        Use::Read => Some((path.line, read(path.line, &path.text()))),
        Use::Rename => {
            let message = format!("`{}` gets another name, which hides reads of the clock", path.text());
            Some((path.line, Finding::new(&file.path, path.line, message, "import it under its own name")))
        }
    });
    let methods = tokens.windows(3).filter(|tokens| is_elapsed(tokens));
    let called = methods.map(|tokens| (tokens[1].line, read(tokens[1].line, ".elapsed")));
    let mut findings: Vec<_> = named.chain(called).collect();
    findings.sort_by_key(|(line, _)| *line);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// What a path does with one of the two types that read the clock of the system.
enum Use {
    Read,
    Rename,
}

fn use_of(path: &PathUse) -> Option<Use> {
    let is_time = |name: &str| ["Instant", "SystemTime"].contains(&name);
    match path.segments.as_slice() {
        [.., last] if is_time(last) => path.rename.as_ref().map(|_| Use::Rename),
        [.., of, function] if is_time(of) && ["now", "elapsed"].contains(&function.as_str()) => {
            Some(Use::Read)
        }
        _ => None,
    }
}

/// Returns whether these tokens begin a call of the method `elapsed`.
fn is_elapsed(tokens: &[Token]) -> bool {
    matches!(tokens, [dot, name, open] if dot.is_punct('.') && name.is_ident("elapsed") && open.is_open('('))
}
