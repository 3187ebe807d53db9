//! An ignored test says why, in `#[ignore = "..."]`: without a reason it stays off for ever.

use super::finding::Finding;
use super::tokens::{Token, attributes};
use super::tree::Tree;

/// Finds ignored tests without a reason.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let all =
        tree.rust.iter().flat_map(|file| attributes(&file.tokens).map(move |attribute| (file, attribute)));
    let bare = all.filter_map(|(file, attribute)| Some((file, bare_ignore(attribute)?)));
    bare.map(|(file, line)| {
        Finding::new(&file.path, line, "`#[ignore]` without a reason", "write `#[ignore = \"why\"]`")
    })
    .collect()
}

/// Returns the line of an `ignore` that is the attribute, or what a `cfg_attr` turns into one.
fn bare_ignore(attribute: &[Token]) -> Option<usize> {
    let index = attribute.iter().position(|token| token.is_ident("ignore"))?;
    let starts = index == 0 || (attribute[0].is_ident("cfg_attr") && attribute[index - 1].is_punct(','));
    let has_reason = attribute.get(index + 1).is_some_and(|token| token.is_punct('='));
    (starts && !has_reason).then_some(attribute[index].line)
}
