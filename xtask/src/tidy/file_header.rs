//! The first line of a Rust file introduces it, as `//!` documentation. Readers judge whether the
//! introduction is true, and says what the file does not know.

use super::finding::Finding;
use super::tree::Tree;

/// Finds files that begin in any other way.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust.iter().filter(|file| file.header().next().is_none());
    bare.map(|file| {
        let message = "the file does not open with `//!`";
        Finding::new(&file.path, 1, message, "introduce it there, and say where its knowledge ends")
    })
    .collect()
}
