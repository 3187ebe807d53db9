//! Prose names its subjects. These words hide them: a reader has to find out who or how many is
//! meant.

use super::finding::Finding;
use super::prose;
use super::tree::Tree;

/// Words, and runs of words, that prose does without. In lower case.
const HIDING: &[&str] = &["whoever", "somebody", "someone", "anybody", "nobody", "so many"];

const REMEDY: &str = "name the subject, or the number";

/// Words that hide a subject.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    prose::lines(tree)
        .flat_map(|line| {
            let found = hiding(line.words).into_iter();
            found.map(move |word| {
                Finding::new(line.path, line.number, format!("`{word}` hides who or what is meant"), REMEDY)
            })
        })
        .collect()
}

fn hiding(line: &str) -> Vec<&'static str> {
    // Every second piece is code.
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = prose.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let line = format!(" {} ", words.map(str::to_lowercase).collect::<Vec<_>>().join(" "));
    HIDING.iter().copied().filter(|word| line.contains(&format!(" {word} "))).collect()
}
