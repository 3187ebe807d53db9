//! `ARCHITECTURE.md` has a line for each folder with sources, and the files that it names exist.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::tree::{TextFile, Tree};

const MAP: &str = "ARCHITECTURE.md";

/// The directories to which paths in the document may be relative.
const ROOTS: [&str; 2] = ["", "crates/sinew/src/"];

/// Finds folders that are missing on the map or in the tree, and files that do not exist.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.markdown.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let (folders, rows) = (folders(tree), rows(map));
    let is_listed = |folder: &str| rows.iter().any(|(_, row)| *row == folder);
    let missing = folders.iter().filter(|folder| !is_listed(folder)).map(|folder| {
        Finding::new(MAP, 1, format!("`{folder}` is not on the map"), "add a line that says what lives there")
    });
    let gone = rows.iter().filter(|(_, row)| !folders.contains(*row)).map(|(line, row)| {
        Finding::new(MAP, *line, format!("`{row}` is no folder with sources"), "delete the line")
    });
    let lost = files(map).into_iter().filter(|(_, file)| !exists(tree, file)).map(|(line, file)| {
        Finding::new(MAP, line, format!("`{file}` is not there"), "name the file where it is now")
    });
    missing.chain(gone).chain(lost).collect()
}

/// Returns the folders with Rust sources, without those of tests.
fn folders(tree: &Tree) -> BTreeSet<&str> {
    let parents = tree.rust.iter().filter_map(|file| file.path.rsplit_once('/'));
    let is_source = |folder: &&str| {
        let mut parts = folder.split('/');
        parts.clone().any(|part| part == "src") && !parts.any(|part| part == "tests")
    };
    parents.map(|(folder, _)| folder).filter(is_source).collect()
}

/// Returns the folders of the table, with their lines.
fn rows(map: &TextFile) -> Vec<(usize, &str)> {
    let rows = map.text.lines().enumerate().filter_map(|(index, line)| {
        let folder = line.strip_prefix("| `")?.split_once("` |")?.0;
        let is_folder = folder.ends_with("/src") || folder.contains("/src/") && !folder.ends_with(".rs");
        is_folder.then_some((index + 1, folder))
    });
    rows.collect()
}

/// Returns the files that the document names, with their lines.
fn files(map: &TextFile) -> Vec<(usize, &str)> {
    let named = map.text.lines().enumerate().flat_map(|(index, line)| {
        let code = line.split('`').skip(1).step_by(2);
        code.filter(|text| text.contains('/') && text.ends_with(".rs")).map(move |text| (index + 1, text))
    });
    named.collect()
}

fn exists(tree: &Tree, file: &str) -> bool {
    tree.rust.iter().any(|there| ROOTS.iter().any(|root| there.path.strip_prefix(root) == Some(file)))
}
