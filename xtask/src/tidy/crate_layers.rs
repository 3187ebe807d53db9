//! Which crate may depend on which of ours, and that peers stay in `bench/`. Read from manifests alone: a
//! dependency that is declared is an edge, used or not, for tests or not.

use toml::de::{DeTable, DeValue};

use super::finding::Finding;
use super::tree::{TextFile, Tree};

/// Every crate of the repository but the benchmarks, and the crates of ours that it may depend on.
const EDGES: [(&str, &[&str]); 10] = [
    ("sinew-coroutine", &[]),
    ("sinew-topology", &[]),
    ("sinew-sched", &["sinew-topology"]),
    ("sinew", &["sinew-coroutine", "sinew-sched", "sinew-topology"]),
    ("sinew-cli", &["sinew"]),
    ("sinew-examples", &["sinew"]),
    ("sinew-fuzz", &["sinew"]),
    ("sinew-guide", &["sinew"]),
    ("sinew-init", &[]),
    ("xtask", &["sinew-init"]),
];

/// Runtimes, schedulers and coroutine crates to compare with, never to build upon.
const PEERS: [&str; 15] = [
    "async-executor",
    "async-io",
    "async-std",
    "compio",
    "context",
    "corosensei",
    "generator",
    "glommio",
    "may",
    "monoio",
    "rayon",
    "rayon-core",
    "smol",
    "tokio",
    "wasmtime-fiber",
];

/// The one package outside `bench/` that may name peers, in its tests: the guide tells users how to
/// call them from fibers.
const GUIDE: (&str, [&str; 2]) = ("sinew-guide", ["rayon", "tokio"]);

/// Edges that are not in the plan.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let ours = tree.manifests.iter().filter(|manifest| !manifest.path.starts_with("bench/"));
    ours.flat_map(check_manifest).collect()
}

fn check_manifest(file: &TextFile) -> Vec<Finding> {
    let Ok(table) = DeTable::parse(&file.text) else {
        return vec![Finding::new(&file.path, 1, "the manifest is not TOML", "cargo says where")];
    };
    let manifest = Manifest { file, table: table.get_ref() };
    let mut findings = manifest.unplanned();
    for (name, line) in manifest.dependencies() {
        findings.extend(manifest.judge(&name, line));
    }
    findings
}

struct Manifest<'a> {
    file: &'a TextFile,
    table: &'a DeTable<'a>,
}

impl Manifest<'_> {
    /// The package's name; a root without a package has none.
    fn package(&self) -> Option<&str> {
        table(self.table, "package")?.get("name")?.get_ref().as_str()
    }

    /// What the plan permits this package; a virtual root is permitted to name all of ours.
    fn permitted(&self) -> Option<&'static [&'static str]> {
        let package = self.package()?;
        EDGES.iter().find(|(name, _)| *name == package).map(|(_, permitted)| *permitted)
    }

    /// A package that the plan does not mention.
    fn unplanned(&self) -> Vec<Finding> {
        match self.package() {
            Some(package) if self.permitted().is_none() => {
                let message = format!("the layer plan does not mention `{package}`");
                vec![Finding::new(&self.file.path, 1, message, "add it to xtask/src/tidy/crate_layers.rs")]
            }
            _ => Vec::new(),
        }
    }

    fn judge(&self, dependency: &str, line: usize) -> Option<Finding> {
        let is_shown = self.package() == Some(GUIDE.0) && GUIDE.1.contains(&dependency);
        if PEERS.contains(&dependency) && !is_shown {
            let message = format!("depends on the peer `{dependency}`");
            return Some(Finding::new(&self.file.path, line, message, "peers belong in bench/"));
        }
        let permitted = self.permitted()?;
        let is_ours = EDGES.iter().any(|(name, _)| *name == dependency);
        // A crate that names itself does so for its tests, to have all features: cargo permits nothing else.
        if !is_ours || permitted.contains(&dependency) || self.package() == Some(dependency) {
            return None;
        }
        let message = format!("depends on `{dependency}`, against the direction of the layers");
        Some(Finding::new(&self.file.path, line, message, "move the code to the layer that may know both"))
    }

    /// The true names of all dependencies, whatever they are for, with their lines.
    fn dependencies(&self) -> Vec<(String, usize)> {
        let mut found = self.dependencies_in(self.table);
        for holder in ["target", "workspace"].iter().filter_map(|name| table(self.table, name)) {
            found.extend(self.dependencies_in(holder));
            let nested = holder.values().filter_map(|value| value.get_ref().as_table());
            found.extend(nested.flat_map(|table| self.dependencies_in(table)));
        }
        found
    }

    fn dependencies_in(&self, holder: &DeTable<'_>) -> Vec<(String, usize)> {
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let tables = kinds.iter().filter_map(|kind| table(holder, kind));
        let entries = tables.flat_map(|table| table.iter());
        entries
            .map(|(key, value)| (true_name(key.get_ref(), value.get_ref()), self.line(key.span().start)))
            .collect()
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.file.text[..offset].matches('\n').count()
    }
}

/// A renamed dependency gives its package's name in `package`.
fn true_name(key: &str, value: &DeValue<'_>) -> String {
    let renamed = value.as_table().and_then(|table| table.get("package")?.get_ref().as_str());
    renamed.unwrap_or(key).to_owned()
}

fn table<'a>(holder: &'a DeTable<'_>, name: &str) -> Option<&'a DeTable<'a>> {
    holder.get(name)?.get_ref().as_table()
}
