//! A `compile_fail` example names the error with which it must fail: otherwise a typing mistake
//! passes for the proof. The rule covers examples in documentation comments, and in Markdown files,
//! which may be included as documentation.

use super::finding::Finding;
use super::tokens::{Kind, Token, attributes};
use super::tree::Tree;

/// Finds examples that may fail for any reason.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let in_code = tree.rust.iter().flat_map(|file| {
        let docs = attributes(&file.tokens).filter_map(doc_text);
        docs.flat_map(|(line, text)| bare_fences(text.split("\\n"), line))
            .map(|line| finding(&file.path, line))
    });
    let in_prose = tree.markdown.iter().flat_map(|file| {
        let lines = bare_fences(file.text.lines(), 1);
        lines.into_iter().map(|line| finding(&file.path, line))
    });
    in_code.chain(in_prose).collect()
}

fn finding(path: &str, line: usize) -> Finding {
    let message = "a `compile_fail` example without an error code";
    Finding::new(path, line, message, "write `compile_fail,E....`")
}

/// Returns the text of a documentation comment, newlines still escaped, and its first line.
fn doc_text(attribute: &[Token]) -> Option<(usize, &str)> {
    match attribute {
        [name, _, Token { kind: Kind::Literal(text), line }] if name.is_ident("doc") => Some((*line, text)),
        _ => None,
    }
}

/// Returns the lines that open a `compile_fail` example without a code.
fn bare_fences<'a>(lines: impl Iterator<Item = &'a str>, first: usize) -> Vec<usize> {
    let numbered = lines.enumerate().filter(|(_, line)| is_bare_fence(line));
    numbered.map(|(index, _)| first + index).collect()
}

fn is_bare_fence(line: &str) -> bool {
    // A comment's text may start with the quote of its literal, a space, or the star of a block
    // comment.
    let Some(info) = line.trim_start_matches(['"', ' ', '*']).strip_prefix("```") else { return false };
    let words: Vec<_> = info.split([',', ' ', '{', '}', '"']).collect();
    words.contains(&"compile_fail") && !words.iter().any(|word| is_error_code(word))
}

fn is_error_code(word: &str) -> bool {
    word.strip_prefix('E')
        .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}
