//! What the guide's tables say: each row of the one in `blocking.md` has a test here, and each test
//! a row; the one in `tuning.md` has all variables.

use std::panic::{self, AssertUnwindSafe};

mod blocks;
mod breaks;
mod support;
mod variables;
mod works;

/// What a row claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Claim {
    Works,
    Blocks,
    Breaks,
}

/// A row's first cell, its second one, and what shows that it is true.
type Row = (&'static str, Claim, fn());

fn rows() -> Vec<Row> {
    [works::ROWS, blocks::ROWS, breaks::ROWS].concat()
}

#[test]
fn each_row_of_the_table_has_a_test() {
    let listed: Vec<_> = listed().collect();
    let tested: Vec<_> = rows().iter().map(|(name, claim, _)| ((*name).to_owned(), *claim)).collect();
    assert_eq!(listed, tested);
}

#[test]
fn each_row_of_the_table_is_true() {
    let is_false = |test: fn()| panic::catch_unwind(AssertUnwindSafe(test)).is_err();
    let wrong: Vec<_> = rows().into_iter().filter(|(.., test)| is_false(*test)).map(|row| row.0).collect();
    assert_eq!(wrong, [""; 0]);
}

/// The rows of the table in the chapter.
fn listed() -> impl Iterator<Item = (String, Claim)> {
    let chapter = include_str!("../../src/blocking.md");
    let (_, section) = chapter.split_once("\n## The table\n").expect("the section is there");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let claim = match cells[2] {
            "works" => Claim::Works,
            "blocks" => Claim::Blocks,
            "breaks" => Claim::Breaks,
            other => panic!("the table says `{other}`"),
        };
        (cells[1].to_owned(), claim)
    })
}
