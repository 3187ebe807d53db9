//! A file can be read in one sitting. The rule cannot know where to split a long one.

use super::finding::Finding;
use super::tree::Tree;

/// A longer file is a failure in the library, and a note elsewhere.
const AIM: usize = 400;
/// A longer file is a failure everywhere.
const LIMIT: usize = 800;

/// Finds files that are too long, or close to it.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust.iter().filter_map(|file| judge(&file.path, file.text.lines().count())).collect()
}

fn judge(path: &str, lines: usize) -> Option<Finding> {
    let finding = |bound| {
        let message = format!("{lines} lines, over {bound}");
        Finding::new(path, lines, message, "split off what has a name of its own")
    };
    if lines > LIMIT {
        return Some(finding(LIMIT));
    }
    (lines > AIM).then(|| if is_library(path) { finding(AIM) } else { finding(AIM).into_note() })
}

fn is_library(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aim_is_a_failure_in_the_library_and_a_note_elsewhere() {
        let is_note = |path, lines| judge(path, lines).map(|finding| finding.is_note());
        let lengths = [400, 401, 800, 801];
        let elsewhere = lengths.map(|lines| is_note("xtask/src/a.rs", lines));
        assert_eq!(elsewhere, [None, Some(true), Some(true), Some(false)]);
        let library = lengths.map(|lines| is_note("crates/sinew/src/a.rs", lines));
        assert_eq!(library, [None, Some(false), Some(false), Some(false)]);
    }
}
