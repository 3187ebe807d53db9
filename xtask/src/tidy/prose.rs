//! The lines that are prose: whole-line comments of Rust files, and Markdown outside fenced code.

use super::tree::Tree;

/// A line of prose.
pub(super) struct Line<'a> {
    /// The path of its file.
    pub(super) path: &'a str,
    /// Its number, from 1.
    pub(super) number: usize,
    /// The whole line, indentation and comment mark included.
    pub(super) whole: &'a str,
    /// Its words, without the comment mark.
    pub(super) words: &'a str,
}

/// Every line of prose of a tree.
pub(super) fn lines(tree: &Tree) -> impl Iterator<Item = Line<'_>> {
    let rust = tree.rust.iter().flat_map(|file| comments(&file.path, &file.text));
    rust.chain(tree.markdown.iter().flat_map(|file| markdown(&file.path, &file.text)))
}

fn comments<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = Line<'a>> {
    numbered(text).filter_map(move |(number, whole)| {
        let mark = whole.trim_start().strip_prefix("//")?;
        Some(Line { path, number, whole, words: mark.trim_start_matches(['/', '!']) })
    })
}

fn markdown<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = Line<'a>> {
    let mut in_fence = false;
    numbered(text).filter_map(move |(number, whole)| {
        let is_fence = ["```", "~~~"].iter().any(|fence| whole.trim_start().starts_with(fence));
        in_fence ^= is_fence;
        (!in_fence && !is_fence).then_some(Line { path, number, whole, words: whole })
    })
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}
