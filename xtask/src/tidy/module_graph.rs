//! Which module of a crate names which other: a graph of files, by the paths in their code.
//!
//! A path leads to the file that defines its item: re-exports are followed. A re-export itself is
//! no edge, nor is a path that only tests and models name. This file does not know which edges are
//! permitted.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Import, PathUse, module_of, paths};
use super::rust_file::RustFile;
use super::tree::Tree;

/// A module, as segments after `crate`.
type Module = Vec<String>;

/// One module that names another.
pub(super) struct Edge {
    /// The file that names, and the file that is named: indices into [`ModuleGraph::files`].
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where the first such path is.
    pub(super) line: usize,
}

/// The modules of one crate.
pub(super) struct ModuleGraph<'a> {
    /// Its files.
    pub(super) files: Vec<&'a RustFile>,
    /// Between different files, one for each pair.
    pub(super) edges: Vec<Edge>,
}

/// What is known about a file while the graph is made.
struct Known {
    module: Module,
    paths: Vec<PathUse>,
}

impl<'a> ModuleGraph<'a> {
    /// Returns the graph of the files at or below `source`, which is a crate's `src/`.
    pub(super) fn of(tree: &'a Tree, source: &str) -> Self {
        let files: Vec<_> = tree.rust_below(source).filter(|file| file.is_product()).collect();
        let known: Vec<_> = files
            .iter()
            .map(|file| Known { module: module_of(file), paths: paths(file, &file.shipped_tokens()) })
            .collect();
        let names = Names::of(&known);
        let mut edges = BTreeMap::new();
        for (from, known) in known.iter().enumerate() {
            let counted = known.paths.iter().filter(|path| path.import != Some(Import::Reexport));
            for (path, to) in counted.filter_map(|path| Some((path, names.find(&known.module, path)?))) {
                if to != from {
                    edges.entry((from, to)).or_insert(path.line);
                }
            }
        }
        let edges = edges.into_iter().map(|((from, to), line)| Edge { from, to, line }).collect();
        Self { files, edges }
    }

    /// Returns the sets of files that reach one another, of more than one file, as indices; sorted.
    pub(super) fn knots(&self) -> Vec<Vec<usize>> {
        knots(self.files.len(), self.edges.iter().map(|edge| (edge.from, edge.to)))
    }
}

/// Returns the sets of more than one node that reach one another.
pub(super) fn knots(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); nodes];
    edges.for_each(|(from, to)| next[from].push(to));
    // Some hundred nodes: what each reaches is cheap enough, and easier to verify than a clever
    // walk.
    let reached: Vec<BTreeSet<usize>> = (0..nodes).map(|node| reachable(&next, node)).collect();
    let knot_of = |node: usize| -> Vec<usize> {
        reached[node]
            .iter()
            .copied()
            .filter(|&other| other == node || reached[other].contains(&node))
            .collect()
    };
    let all: BTreeSet<_> = (0..nodes).filter(|&node| reached[node].contains(&node)).map(knot_of).collect();
    all.into_iter().filter(|knot| knot.len() > 1).collect()
}

/// Returns what can be reached from a node by one edge or more.
fn reachable(next: &[Vec<usize>], node: usize) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), next[node].clone());
    while let Some(other) = open.pop() {
        if reached.insert(other) {
            open.extend(&next[other]);
        }
    }
    reached
}

/// Where names lead.
struct Names<'a> {
    /// The file of each module.
    files: BTreeMap<&'a [String], usize>,
    /// What each module imports: the path behind a name.
    imports: BTreeMap<(&'a [String], &'a str), &'a [String]>,
}

impl<'a> Names<'a> {
    fn of(known: &'a [Known]) -> Self {
        let files = known.iter().enumerate().map(|(index, known)| (&known.module[..], index)).collect();
        let imports = known.iter().flat_map(|known| {
            let named =
                known.paths.iter().filter_map(|path| Some((path.imported_name()?, &path.segments[..])));
            named.map(|(name, segments)| ((&known.module[..], name), segments))
        });
        Self { files, imports: imports.collect() }
    }

    /// Returns the file that defines what a path in a module leads to, if that is in this crate.
    fn find(&self, module: &[String], path: &PathUse) -> Option<usize> {
        // A lone word is a name of the file's own, unless it is imported.
        if path.segments.len() < 2 && path.import.is_none() {
            return None;
        }
        self.follow(module, &path.segments, 0)
    }

    fn follow(&self, module: &[String], segments: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = segments.split_first()?;
        let (mut at, rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            // A module below this one, or a name that this one imports.
            _ if self.is_module(module, first) => (module.to_vec(), segments),
            _ => return None,
        };
        for (index, segment) in rest.iter().enumerate() {
            if self.is_module(&at, segment) {
                at.push(segment.clone());
                continue;
            }
            let behind = self.imports.get(&(&at[..], segment.as_str()));
            let followed = behind.filter(|_| depth < 8).and_then(|behind| {
                let whole: Vec<_> = behind.iter().chain(&rest[index + 1..]).cloned().collect();
                self.follow(&at, &whole, depth + 1)
            });
            return followed.or_else(|| self.files.get(&at[..]).copied());
        }
        self.files.get(&at[..]).copied()
    }

    fn is_module(&self, parent: &[String], name: &str) -> bool {
        let child: Vec<_> = parent.iter().cloned().chain([name.to_owned()]).collect();
        self.files.contains_key(&child[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let rust = files
            .iter()
            .map(|(path, text)| RustFile::new(&format!("crates/a/src/{path}"), (*text).to_owned()));
        let tree = Tree { rust: rust.collect(), ..Tree::default() };
        let graph = ModuleGraph::of(&tree, "crates/a/src/");
        let name = |index: usize| graph.files[index].source_path().unwrap().to_owned();
        graph
            .edges
            .iter()
            .map(|edge| format!("{}:{} {}", name(edge.from), edge.line, name(edge.to)))
            .collect()
    }

    #[test]
    fn a_path_leads_to_the_file_that_defines_its_item() {
        let files = [
            ("lib.rs", "mod b; mod c; pub use b::X;"),
            ("b/mod.rs", "mod d; pub(crate) use d::X; pub(crate) fn f() {}"),
            ("b/d.rs", "use super::f; pub struct X;"),
            ("c.rs", "use std::fmt;\nuse crate::b::{self, X as Y};\nfn g() { b::f() }"),
        ];
        assert_eq!(edges(&files), ["b/d.rs:1 b/mod.rs", "c.rs:2 b/mod.rs", "c.rs:2 b/d.rs"]);
    }

    #[test]
    fn a_module_may_name_those_below_it_by_their_names() {
        let files = [("b/mod.rs", "mod d;\nfn f() { d::g() }"), ("b/d.rs", "pub fn g() {}")];
        assert_eq!(edges(&files), ["b/mod.rs:2 b/d.rs"]);
    }

    #[test]
    fn tests_and_models_are_not_counted() {
        let files = [
            ("a.rs", "#[cfg(test)] mod tests { use crate::b::X; }"),
            ("b.rs", "pub struct X;"),
            ("a_model.rs", "use crate::b::X;"),
            ("model/a.rs", "use crate::b::X;"),
            ("tests.rs", "use crate::b::X;"),
        ];
        assert_eq!(edges(&files), [""; 0]);
    }

    #[test]
    fn a_knot_reaches_itself_through_others() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (4, 5), (5, 4)];
        assert_eq!(knots(6, edges.into_iter()), [vec![0, 1, 2], vec![4, 5]]);
    }
}
