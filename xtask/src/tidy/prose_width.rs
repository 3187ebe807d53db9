//! Comments and Markdown are wrapped at 100 columns. Code has rustfmt's width.

use super::finding::Finding;
use super::prose::{self, Line};
use super::tree::Tree;

const WIDTH: usize = 100;

/// Lines of prose that are too long.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let long = prose::lines(tree).filter(|line| line.whole.chars().count() > WIDTH && can_break(line));
    long.map(|line| {
        let message = format!("a line of {} columns", line.whole.chars().count());
        Finding::new(line.path, line.number, message, "wrap prose at 100 columns")
    })
    .collect()
}

/// Rows of tables are one line each, and a link or a path that is too long alone cannot be broken.
fn can_break(line: &Line<'_>) -> bool {
    let words = line.words.trim();
    !words.starts_with('|') && words.contains(' ')
}
