//! A thread that std starts inherits the output capture of the test that starts it. So the library
//! crates start threads in one place, which avoids that. Scoped threads are exempt: they end before
//! the caller continues, and print on its behalf.

use super::finding::Finding;
use super::paths::paths;
use super::rust_file::RustFile;
use super::tree::Tree;

const HOMES: [&str; 2] = ["crates/sinew-sched/src/thread.rs", "crates/sinew-sched/src/pool/makers.rs"];

const REMEDY: &str = "call `spawn_thread` of sinew-sched";

/// Finds threads that library code starts through std.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust.iter().filter(|file| is_bound(file)).flat_map(captured).collect()
}

/// Returns whether the rule applies to a file: it is in a library crate, is not the crate's own
/// file for threads, and is no model, which starts the checker's threads.
fn is_bound(file: &RustFile) -> bool {
    let is_library = file.path.starts_with("crates/sinew") && !file.path.starts_with("crates/sinew-cli/");
    let is_model = file.path.split('/').any(|part| part.trim_end_matches(".rs").ends_with("model"));
    is_library && !is_model && !HOMES.contains(&file.path.as_str())
}

fn captured(file: &RustFile) -> Vec<Finding> {
    let tokens = file.shipped_tokens();
    let starts = |segments: &[String]| {
        segments.windows(2).any(|pair| pair[0] == "thread" && ["Builder", "spawn"].contains(&&*pair[1]))
    };
    let named = paths(file, &tokens).into_iter().filter(|path| starts(&path.segments));
    named
        .map(|path| {
            let message = format!("`{}` starts a thread with its caller's output capture", path.text());
            Finding::new(&file.path, path.line, message, REMEDY)
        })
        .collect()
}
