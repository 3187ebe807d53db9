//! Which crate may depend on which of ours; peers stay in `bench/`. The rule reads manifests alone:
//! a declared dependency is an edge, used or not, for tests or not.

use toml::de::{DeTable, DeValue};

use super::finding::Finding;
use super::tree::{TextFile, Tree};

/// Every crate of the repository except the benchmarks, and the crates of ours on which it may
/// depend.
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

/// Runtimes, schedulers and coroutine crates to compare with, which no crate may use.
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

/// Finds edges that are not in the plan.
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
    /// Returns the package's name; a root without a package has none.
    fn package(&self) -> Option<&str> {
        table(self.table, "package")?.get("name")?.get_ref().as_str()
    }

    /// Returns what the plan permits this package; a virtual root is permitted to name all of ours.
    fn permitted(&self) -> Option<&'static [&'static str]> {
        let package = self.package()?;
        EDGES.iter().find(|(name, _)| *name == package).map(|(_, permitted)| *permitted)
    }

    /// Returns a finding if the plan does not mention this package.
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
        // A crate names itself for its tests, to have all features: cargo permits nothing else.
        if !is_ours || permitted.contains(&dependency) || self.package() == Some(dependency) {
            return None;
        }
        let message = format!("depends on `{dependency}`, against the direction of the layers");
        Some(Finding::new(&self.file.path, line, message, "move the code to the layer that may know both"))
    }

    /// Returns the true names of all dependencies, whatever their purpose, with their lines.
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

/// Returns the name of a dependency's package. A renamed dependency has it in `package`.
fn true_name(key: &str, value: &DeValue<'_>) -> String {
    let renamed = value.as_table().and_then(|table| table.get("package")?.get_ref().as_str());
    renamed.unwrap_or(key).to_owned()
}

fn table<'a>(holder: &'a DeTable<'_>, name: &str) -> Option<&'a DeTable<'a>> {
    holder.get(name)?.get_ref().as_table()
}
