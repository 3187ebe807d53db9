//! The committed lists of files with special permissions: one `path: reason` on each line, `#` for
//! comments.
//!
//! This file reads lists; the rules say what a listed file may do.

use super::finding::Finding;
use super::tree::Tree;

/// A list of the tree.
pub(super) struct Listing {
    /// The list's own path.
    path: &'static str,
    entries: Vec<Entry>,
}

struct Entry {
    line: usize,
    file: String,
    reason: String,
}

impl Listing {
    /// Reads the list; a missing one is empty.
    pub(super) fn read(tree: &Tree, path: &'static str) -> Self {
        let text = tree.text_file(path).map_or("", |file| &file.text);
        let lines =
            text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        Self { path, entries: lines.map(|(index, line)| Entry::parse(index + 1, line)).collect() }
    }

    /// Returns whether a file is listed.
    pub(super) fn has(&self, file: &str) -> bool {
        self.entries.iter().any(|entry| entry.file == file)
    }

    /// Finds entries without a reason, and entries whose file no longer needs one.
    pub(super) fn check(&self, is_deserved: impl Fn(&str) -> bool) -> Vec<Finding> {
        let bare = self.entries.iter().filter(|entry| entry.reason.is_empty()).map(|entry| {
            Finding::new(
                self.path,
                entry.line,
                format!("`{}` has no reason", entry.file),
                "write `path: reason`",
            )
        });
        let stale = self.entries.iter().filter(|entry| !is_deserved(&entry.file)).map(|entry| {
            let message = format!("`{}` does not need to be listed, or is gone", entry.file);
            Finding::new(self.path, entry.line, message, "delete this line")
        });
        bare.chain(stale).collect()
    }
}

impl Entry {
    fn parse(line: usize, text: &str) -> Self {
        let (file, reason) = text.split_once(':').unwrap_or((text, ""));
        Self { line, file: file.trim().to_owned(), reason: reason.trim().to_owned() }
    }
}
