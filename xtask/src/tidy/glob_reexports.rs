//! No `pub use x::*`: a crate's surface is an explicit list. Clippy checks private globs.

use super::finding::Finding;
use super::tokens::{Token, closing};
use super::tree::Tree;

/// Finds re-exports by glob, in any file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let in_file = |tokens: &[Token]| (0..tokens.len()).filter_map(|i| glob(tokens, i)).collect::<Vec<_>>();
    let lines =
        tree.rust.iter().flat_map(|file| in_file(&file.tokens).into_iter().map(move |line| (file, line)));
    lines
        .map(|(file, line)| Finding::new(&file.path, line, "a `pub use` of a glob", "name each item"))
        .collect()
}

/// Returns the line of the `*` in a `pub use` that starts at `index`.
fn glob(tokens: &[Token], index: usize) -> Option<usize> {
    if !tokens[index].is_ident("pub") {
        return None;
    }
    let scoped = tokens.get(index + 1)?.is_open('(');
    let keyword = if scoped { closing(tokens, index + 1) + 1 } else { index + 1 };
    if !tokens.get(keyword)?.is_ident("use") {
        return None;
    }
    let tree = tokens[keyword..].iter().take_while(|token| !token.is_punct(';'));
    tree.into_iter().find(|token| token.is_punct('*')).map(|token| token.line)
}
