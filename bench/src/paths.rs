//! Where things are: sources under `bench/`, everything that is made under `bench/target/`.

use std::path::PathBuf;

/// The directory `bench/` itself.
fn bench() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Sources of the foreign peer `name`.
pub(crate) fn foreign_source(name: &str) -> PathBuf {
    bench().join("foreign").join(name)
}

/// Where foreign toolchains are installed and foreign programs built.
pub(crate) fn foreign_target() -> PathBuf {
    bench().join("target/foreign")
}

/// Where a run leaves its results.
pub(crate) fn results() -> PathBuf {
    bench().join("target/results")
}

/// Where plots and their summary go unless the user says otherwise.
pub(crate) fn report() -> PathBuf {
    bench().join("target/report")
}

/// Where callgrind leaves its profiles, for a closer look with `callgrind_annotate`.
pub(crate) fn callgrind() -> PathBuf {
    bench().join("target/callgrind")
}

/// The committed instruction counts.
pub(crate) fn callgrind_baseline() -> PathBuf {
    bench().join("callgrind.baseline")
}
