//! The first line of a Rust file introduces it, as `//!` documentation. Whether the introduction is true, and says
//! where the file's knowledge ends, is for readers to judge.

use super::finding::Finding;
use super::tree::Tree;

/// Files that open with anything else.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust.iter().filter(|file| file.header().next().is_none());
    bare.map(|file| {
        let message = "the file does not open with `//!`";
        Finding::new(&file.path, 1, message, "introduce it there, and say where its knowledge ends")
    })
    .collect()
}
