//! A thread-local read after a switch may be another thread's: its address was computed before. So
//! shipped code has them in two files only, whose accessors guard against that; how they do it is
//! not checked here.

use super::finding::Finding;
use super::tree::Tree;

const HOMES: [&str; 2] = ["crates/sinew/src/rt/wait/tls.rs", "crates/sinew-sched/src/tls.rs"];

const REMEDY: &str = "move it to `rt/wait/tls.rs` of sinew or `tls.rs` of sinew-sched, behind an accessor";

/// Finds thread-locals outside their homes.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let strangers = tree.rust.iter().filter(|file| !HOMES.contains(&file.path.as_str()));
    strangers
        .flat_map(|file| {
            let tokens = file.shipped_tokens();
            let uses = tokens.into_iter().filter(|token| token.is_ident("thread_local"));
            uses.map(|token| {
                let message = "a thread-local outside the two files that may hold one";
                Finding::new(&file.path, token.line, message, REMEDY)
            })
            .collect::<Vec<_>>()
        })
        .collect()
}
