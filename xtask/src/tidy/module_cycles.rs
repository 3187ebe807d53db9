//! Modules that cannot be understood one at a time: modules that name each other in a circle.
//!
//! A few files may, if they belong together. Folders of a crate may not, nor may rooms of `rt`.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::module_graph::{ModuleGraph, knots};
use super::tree::Tree;

/// The largest permitted number of files that name each other: this many can be understood
/// together.
const LARGEST_KNOT: usize = 4;

/// The folder of `sinew` whose folders must not form a circle either.
const ROOMS: &str = "rt/";

/// Finds knots of files, and circles of folders.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let findings = sources(tree).into_iter().flat_map(|source| {
        let graph = ModuleGraph::of(tree, &source);
        let mut findings = knots_of_files(&source, &graph);
        findings.extend(circles(&source, &graph, "", "folders"));
        if source == "crates/sinew/src/" {
            findings.extend(circles(&source, &graph, ROOMS, "rooms"));
        }
        findings
    });
    findings.collect()
}

/// Prints each edge of the circles of a crate, which shows where to break them; or all edges.
pub(crate) fn print(tree: &Tree, package: &str, all: bool) {
    let graph = ModuleGraph::of(tree, &format!("crates/{package}/src/"));
    if all {
        for edge in &graph.edges {
            println!("{}:{} names {}", name(&graph, edge.from), edge.line, name(&graph, edge.to));
        }
        return;
    }
    for knot in graph.knots() {
        println!("{} modules that name each other:", knot.len());
        for edge in &graph.edges {
            if knot.contains(&edge.from) && knot.contains(&edge.to) {
                println!("  {}:{} names {}", name(&graph, edge.from), edge.line, name(&graph, edge.to));
            }
        }
    }
}

/// Returns the `src/` of each crate.
fn sources(tree: &Tree) -> BTreeSet<String> {
    let crates = tree.rust.iter().filter_map(|file| file.path.strip_prefix("crates/")?.split_once("/src/"));
    crates.map(|(package, _)| format!("crates/{package}/src/")).collect()
}

fn knots_of_files(source: &str, graph: &ModuleGraph<'_>) -> Vec<Finding> {
    let large = graph.knots().into_iter().filter(|knot| knot.len() > LARGEST_KNOT);
    let finding = |knot: Vec<usize>| {
        let names: Vec<_> = knot.iter().map(|&file| name(graph, file)).collect();
        let message = format!("{} modules name each other: {}", names.len(), names.join(", "));
        Finding::new(
            source,
            1,
            message,
            "`cargo xtask modules CRATE` shows how; pass in what the lower one needs",
        )
    };
    large.map(finding).collect()
}

/// Returns the circles of folders below a folder, each file there counting as one too.
fn circles(source: &str, graph: &ModuleGraph<'_>, below: &str, what: &str) -> Vec<Finding> {
    let folder = |file: usize| name(graph, file).strip_prefix(below).map(first_part);
    let folders: Vec<_> =
        (0..graph.files.len()).filter_map(folder).collect::<BTreeSet<_>>().into_iter().collect();
    let index = |file: usize| folders.binary_search(&folder(file)?).ok();
    let edges = graph.edges.iter().filter_map(|edge| Some((index(edge.from)?, index(edge.to)?)));
    let between = edges.filter(|(from, to)| from != to);
    let finding = |circle: Vec<usize>| {
        let names: Vec<_> = circle.iter().map(|&index| folders[index]).collect();
        let message = format!("{what} of {source}{below} name each other: {}", names.join(", "));
        Finding::new(
            &format!("{source}{below}"),
            1,
            message,
            "give them an order, and pass in what the lower one needs",
        )
    };
    knots(folders.len(), between).into_iter().map(finding).collect()
}

/// Returns the path of a file below its crate's `src/`.
fn name<'a>(graph: &ModuleGraph<'a>, file: usize) -> &'a str {
    graph.files[file].source_path().unwrap_or_default()
}

/// `fiber/builder.rs` is in `fiber`, `coroutine.rs` is `coroutine`.
fn first_part(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}
