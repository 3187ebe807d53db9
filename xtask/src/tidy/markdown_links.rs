//! Relative links in Markdown lead to existing files. The rule does not follow external links, and
//! anchors within a page.

use std::path::Path;

use super::finding::Finding;
use super::tree::{TextFile, Tree};

/// Finds links without a target.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.markdown.iter().flat_map(|file| check_file(tree, file)).collect()
}

fn check_file(tree: &Tree, file: &TextFile) -> Vec<Finding> {
    let prose = prose_lines(&file.text);
    let links = prose.flat_map(|(line, text)| targets(text).into_iter().map(move |target| (line, target)));
    let broken = links.filter(|(_, target)| !resolves(&tree.root, &file.path, target));
    broken
        .map(|(line, target)| {
            let message = format!("the link to `{target}` leads nowhere");
            Finding::new(&file.path, line, message, "correct the path, relative to this file")
        })
        .collect()
}

/// Returns the lines outside fenced code, with their numbers.
pub(super) fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        in_fence ^= is_fence;
        (!in_fence && !is_fence).then_some((index + 1, line))
    })
}

/// Returns what the links of a line point to, inline or as a definition.
pub(super) fn targets(line: &str) -> Vec<&str> {
    let mut found: Vec<_> = definition(line).into_iter().collect();
    // Every second piece is code. A link whose text is code has its target at the start of the next
    // piece.
    for prose in line.split('`').step_by(2) {
        found.extend(prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
    }
    found
}

/// Returns the target of a line `[name]: target`.
fn definition(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    (!name.contains(']')).then(|| rest.split_whitespace().next())?
}

fn resolves(root: &Path, from: &str, target: &str) -> bool {
    let target = target.trim_matches(['<', '>']);
    // A colon before any slash is a scheme, or a Rust path in documentation that rustdoc checks
    // itself.
    let is_elsewhere = target.split('/').next().is_some_and(|first| first.contains(':'));
    let file = target.split(['#', '?']).next().unwrap_or_default();
    if is_elsewhere || file.is_empty() {
        return true;
    }
    match file.strip_prefix('/') {
        Some(from_root) => root.join(from_root).exists(),
        None => root.join(from).parent().is_some_and(|directory| directory.join(file).exists()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_where_markdown_has_them() {
        assert_eq!(targets("see [a](b.md#c) and [`d`](e.md \"title\"), not `[f](g)`"), ["b.md#c", "e.md"]);
        assert_eq!(targets("[name]: docs/x.md \"title\""), ["docs/x.md"]);
        assert_eq!(targets("![picture](a.svg)"), ["a.svg"]);
    }

    #[test]
    fn code_blocks_are_not_prose() {
        let lines: Vec<_> = prose_lines("a\n```\n[x](y)\n```\nb").collect();
        assert_eq!(lines, [(1, "a"), (5, "b")]);
    }

    #[test]
    fn external_links_are_not_followed() {
        for target in ["https://example.org/x", "mailto:a@b", "#anchor", "crate::Fiber"] {
            assert!(resolves(Path::new("/nonexistent"), "a.md", target), "{target}");
        }
    }
}
