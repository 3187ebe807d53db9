//! A pillar does not name what it claims not to know. Names in comments do not count. Names in code
//! do, including the tests of a crate where the claim is about the whole crate.

use super::finding::Finding;
use super::paths::{PathUse, paths};
use super::rust_file::RustFile;
use super::tokens::Token;
use super::tree::Tree;

/// Finds names that parts of the tree must not use.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let switch = tree.rust.iter().filter(|file| is_switch(file)).flat_map(knows_threads);
    let sched = tree.rust_below("crates/sinew-sched/").flat_map(|file| says(file, is_fiber_word, SCHED));
    let coroutine =
        tree.rust_below("crates/sinew-coroutine/").flat_map(|file| says(file, is_sched_word, COROUTINE));
    switch.chain(sched).chain(coroutine).collect()
}

const SWITCH: &str = "keep threads, atomics and thread-locals out of the switch";
const SCHED: &str = "the scheduler runs tasks: keep fibers, coroutines and epoll in `sinew`";
const COROUTINE: &str = "the holder of a coroutine resumes it: keep the scheduler out";

/// Returns whether a file is part of the switch: the architectures and the coroutine.
fn is_switch(file: &RustFile) -> bool {
    file.path.starts_with("crates/sinew-coroutine/src/arch/")
        || file.path == "crates/sinew-coroutine/src/coroutine.rs"
}

fn knows_threads(file: &RustFile) -> Vec<Finding> {
    let tokens = file.shipped_tokens();
    let locals = tokens.iter().filter(|token| token.is_ident("thread_local"));
    let locals = locals.map(|token| complaint(file, token.line, "thread_local", SWITCH));
    let named = paths(file, &tokens).into_iter().filter(|path| is_in_std(path, &["thread", "sync"]));
    named.map(|path| complaint(file, path.line, &path.text(), SWITCH)).chain(locals).collect()
}

/// Returns whether a path is in one of these modules of std, under any of std's names or a
/// checker's.
pub(super) fn is_in_std(path: &PathUse, modules: &[&str]) -> bool {
    let [root, module, ..] = path.segments.as_slice() else { return false };
    ["std", "core", "alloc", "loom", "shuttle"].contains(&root.as_str()) && modules.contains(&module.as_str())
}

fn says(file: &RustFile, is_forbidden: fn(&str) -> bool, remedy: &'static str) -> Vec<Finding> {
    let words = file.tokens.iter().filter_map(|token: &Token| Some((token.ident()?, token.line)));
    let forbidden = words.filter(|(word, _)| is_forbidden(word));
    forbidden.map(|(word, line)| complaint(file, line, word, remedy)).collect()
}

fn is_fiber_word(word: &str) -> bool {
    let word = word.to_lowercase();
    ["sinew_coroutine", "epoll", "fiber"].iter().any(|part| word.contains(part))
}

/// Returns whether a word belongs to the scheduler. The words for stacks (`StackPool`) do not, nor
/// do libc's `sched_*` calls, which are the kernel's.
fn is_sched_word(word: &str) -> bool {
    word == "sinew" || word == "sinew_sched" || word.to_lowercase().contains("scheduler")
}

fn complaint(file: &RustFile, line: usize, word: &str, remedy: &'static str) -> Finding {
    Finding::new(&file.path, line, format!("`{word}` is named where it must not be known"), remedy)
}
