//! The guide is whole: `SUMMARY.md` and the folder have the same chapters, each chapter's code
//! blocks are tested, and links to headings, in the guide and from it, lead to headings that exist.
//! That files exist is the business of [`markdown_links`](super::markdown_links).

use std::collections::BTreeSet;

use super::finding::Finding;
use super::markdown_links::{prose_lines, targets};
use super::tree::{TextFile, Tree};

const CHAPTERS: &str = "docs/guide/src/";
const SUMMARY: &str = "docs/guide/src/SUMMARY.md";
const TESTS: &str = "docs/guide/lib.rs";

/// Chapters that readers or tests do not reach, and links to headings that are not there.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(summary) = tree.markdown.iter().find(|file| file.path == SUMMARY) else { return Vec::new() };
    let lost = chapters(tree).flat_map(|chapter| lost_chapter(tree, summary, chapter));
    let gone = links(summary).into_iter().filter(|(_, target)| find(tree, &summary.path, target).is_none());
    let gone = gone.map(|(line, target)| {
        let message = format!("the chapter `{target}` is not there");
        Finding::new(SUMMARY, line, message, "write it, or delete the line")
    });
    let dead = chapters(tree).flat_map(|chapter| dead_anchors(tree, chapter));
    lost.chain(gone).chain(dead).collect()
}

fn chapters(tree: &Tree) -> impl Iterator<Item = &TextFile> {
    tree.markdown.iter().filter(|file| file.path.starts_with(CHAPTERS) && file.path != SUMMARY)
}

/// A chapter that is not in the summary, or whose code blocks nothing runs.
fn lost_chapter(tree: &Tree, summary: &TextFile, chapter: &TextFile) -> Vec<Finding> {
    let name = &chapter.path[CHAPTERS.len()..];
    let mut findings = Vec::new();
    if !links(summary).iter().any(|(_, target)| target == name) {
        let message = "the chapter is not in the summary";
        findings.push(Finding::new(&chapter.path, 1, message, "add it to SUMMARY.md"));
    }
    let included = format!("include_str!(\"src/{name}\")");
    if !tree.rust_below(TESTS).any(|file| file.text.contains(&included)) {
        let message = "the chapter's code blocks are not tested";
        findings.push(Finding::new(&chapter.path, 1, message, "add it to docs/guide/lib.rs"));
    }
    findings
}

/// Links of a chapter to headings that are not there.
fn dead_anchors(tree: &Tree, chapter: &TextFile) -> Vec<Finding> {
    let broken = links(chapter).into_iter().filter(|(_, target)| {
        let Some((file, anchor)) = target.split_once('#') else { return false };
        let page = if file.is_empty() { Some(chapter) } else { find(tree, &chapter.path, file) };
        page.is_some_and(|page| !anchors(page).contains(anchor))
    });
    broken
        .map(|(line, target)| {
            let message = format!("the link to `{target}` leads to no heading");
            Finding::new(&chapter.path, line, message, "correct the part behind the #")
        })
        .collect()
}

/// The targets of a page's links, with their lines. A link's text may go over two lines; its target
/// does not.
fn links(page: &TextFile) -> Vec<(usize, String)> {
    let links = prose_lines(&page.text)
        .flat_map(|(line, text)| targets(text).into_iter().map(move |target| (line, target.to_owned())));
    links.filter(|(_, target)| !target.contains("://")).collect()
}

/// The Markdown file that a relative target names.
fn find<'a>(tree: &'a Tree, from: &str, target: &str) -> Option<&'a TextFile> {
    let mut path: Vec<_> = from.split('/').collect();
    path.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(path.pop()),
            "." => {}
            name => path.push(name),
        }
    }
    let path = path.join("/");
    tree.markdown.iter().find(|file| file.path == path)
}

/// What headings of a page are called in links: as mdBook and GitHub have it. A second heading of
/// one name gets a number.
fn anchors(page: &TextFile) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose_lines(&page.text) {
        let text = line.trim_start_matches('#');
        if text.len() == line.len() || !text.starts_with(' ') {
            continue;
        }
        let name = anchor(text.trim());
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_alphanumeric() => Some(c),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_called_as_in_the_book() {
        assert_eq!(anchor("A RefCell is borrowed"), "a-refcell-is-borrowed");
        assert_eq!(anchor("`std::process::exit`"), "stdprocessexit");
        assert_eq!(anchor("Tuning, with figures"), "tuning-with-figures");
    }

    #[test]
    fn a_second_heading_of_one_name_has_a_number() {
        let text = "# A\n## A\n```\n# B\n```\n#C\n".to_owned();
        let page = TextFile { path: "a.md".to_owned(), text };
        assert!(anchors(&page).iter().eq(["a", "a-1"]));
    }
}
