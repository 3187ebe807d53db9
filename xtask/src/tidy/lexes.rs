//! Every Rust file can be split into tokens. The other rules see nothing in a file that cannot, and
//! would pass it.

use super::finding::Finding;
use super::tree::Tree;

/// Finds files that no other rule can read.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let broken = tree.rust.iter().filter_map(|file| Some((file, file.lex_error?)));
    let message = "the file cannot be split into tokens, so no rule can look into it";
    broken.map(|(file, line)| Finding::new(&file.path, line, message, "close what is open here")).collect()
}
