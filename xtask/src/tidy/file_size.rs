//! A file can be read in one sitting. Where a long one is to be cut, this rule cannot know.

use super::finding::Finding;
use super::tree::Tree;

/// Beyond this a note.
const AIM: usize = 400;
/// Beyond this a failure.
const LIMIT: usize = 800;

/// Files that are too long, or on their way there.
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
    (lines > AIM).then(|| finding(AIM).into_note())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aim_is_a_note_and_the_limit_a_failure() {
        let is_note = |lines| judge("a.rs", lines).map(|finding| finding.is_note());
        assert_eq!([400, 401, 800, 801].map(is_note), [None, Some(true), Some(true), Some(false)]);
    }
}
