//! Inside `sinew`: public folders use `rt`, `rt` uses the pillars, and no path leads back up.
//! `observe` may name what is below it, and no other folder names `observe`. Which folders are
//! public is not listed: all except `rt` are.
//!
//! The rooms of `rt` have an order: each knows only those before it.

use super::finding::Finding;
use super::paths::{PathUse, paths};
use super::rust_file::RustFile;
use super::tree::Tree;

const SOURCE: &str = "crates/sinew/src/";

/// The rooms of `rt`, each of which may name those before it.
const ROOMS: [&str; 5] = ["base", "wait", "timer", "fiber", "worker"];

/// Finds paths that lead up.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust_below(SOURCE).flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let (folder, room) = (folder(file), room(file));
    let complaints = paths(file, &file.tokens).into_iter().filter_map(|path| {
        let (message, remedy) = complaint(folder, &path).or_else(|| complaint_of_room(room?, &path))?;
        Some(Finding::new(&file.path, path.line, message, remedy))
    });
    complaints.collect()
}

/// Returns the top module that a file belongs to; `lib` is the facade over all of them.
fn folder(file: &RustFile) -> &str {
    let path = file.path.strip_prefix(SOURCE).unwrap_or(&file.path);
    let top = path.split('/').next().unwrap_or(path);
    top.strip_suffix(".rs").unwrap_or(top)
}

/// Returns the room that a file belongs to, by its place in the order.
fn room(file: &RustFile) -> Option<usize> {
    place(file.path.strip_prefix(SOURCE)?.strip_prefix("rt/")?.split('/').next()?)
}

fn place(room: &str) -> Option<usize> {
    ROOMS.iter().position(|&name| name == room)
}

fn complaint_of_room(own: usize, path: &PathUse) -> Option<(String, &'static str)> {
    let [root, rt, target, ..] = path.segments.as_slice() else { return None };
    let is_above = root == "crate" && rt == "rt" && place(target)? > own;
    let message = format!("the room `{}` names `{}`", ROOMS[own], path.text());
    is_above.then_some((message, "put a seam into the lower room, for the upper one to implement"))
}

fn complaint(folder: &str, path: &PathUse) -> Option<(String, &'static str)> {
    let [root, target, ..] = path.segments.as_slice() else { return None };
    if root != "crate" {
        return None;
    }
    let text = path.text();
    match (folder, target.as_str()) {
        ("rt", target) if target != "rt" => {
            Some((format!("`rt` names `{text}`"), "have the public folder pass in what `rt` needs"))
        }
        ("lib" | "observe", "observe") => None,
        (_, "observe") => {
            Some((format!("`{text}` is named outside `observe`"), "count below and let it read"))
        }
        _ => None,
    }
}
