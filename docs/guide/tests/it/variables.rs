//! The table of variables in `tuning.md` beside the one in the reference.

use std::collections::BTreeSet;

#[test]
fn the_chapter_on_tuning_has_all_variables() {
    let chapter = include_str!("../../src/tuning.md");
    let reference = include_str!("../../../../crates/sinew/src/runtime/builder.rs");
    let rows = |line: &&str| line.trim_start_matches("/// ").starts_with("| `SINEW_");
    let listed: BTreeSet<_> = chapter.lines().filter(rows).flat_map(variables).collect();
    let known: BTreeSet<_> = reference.lines().filter(rows).flat_map(variables).collect();
    assert!(!known.is_empty());
    assert_eq!(listed, known);
}

/// What a row's first cell has between backticks.
fn variables(row: &str) -> impl Iterator<Item = &str> {
    let cell = row.split('|').nth(1).unwrap_or_default();
    cell.split('`').filter(|word| word.starts_with("SINEW_"))
}
