//! No `mod x;` inside a macro: rustfmt, editors and readers do not find it there. Inline modules
//! with a body are no files, and are permitted.

use super::finding::Finding;
use super::tokens::{Kind, Token, closing};
use super::tree::Tree;

/// Finds out-of-line modules that only a macro declares.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let lines =
        tree.rust.iter().flat_map(|file| hidden_mods(&file.tokens).into_iter().map(move |line| (file, line)));
    let message = "a `mod` line inside a macro";
    lines
        .map(|(file, line)| Finding::new(&file.path, line, message, "write `#[cfg(..)] mod x;` in the open"))
        .collect()
}

fn hidden_mods(tokens: &[Token]) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        match macro_body(tokens, index) {
            Some((open, close)) => {
                lines.extend((open..close).filter_map(|at| mod_line(tokens, at)));
                index = close;
            }
            None => index += 1,
        }
    }
    lines
}

/// Returns the brackets of a macro call, or of a `macro_rules!` definition, whose `!` is at
/// `index`.
fn macro_body(tokens: &[Token], index: usize) -> Option<(usize, usize)> {
    let is_bang = tokens[index].is_punct('!') && index > 0 && tokens[index - 1].ident().is_some();
    let after_name = index + 1 + usize::from(tokens.get(index + 1)?.ident().is_some());
    let opens = matches!(tokens.get(after_name)?.kind, Kind::Open(_));
    (is_bang && opens).then(|| (after_name, closing(tokens, after_name)))
}

/// Returns the line of a `mod x;` or `mod $x;` that starts at `index`.
fn mod_line(tokens: &[Token], index: usize) -> Option<usize> {
    let name = index + 1 + usize::from(tokens.get(index + 1)?.is_punct('$'));
    let is_mod = tokens[index].is_ident("mod") && tokens.get(name)?.ident().is_some();
    (is_mod && tokens.get(name + 1)?.is_punct(';')).then_some(tokens[index].line)
}
