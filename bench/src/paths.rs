//! Where files are: sources under `bench/`, everything that is made under `bench/target/`.

use std::path::PathBuf;

/// Returns the directory `bench/` itself.
fn bench() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the directory of the sources of the foreign peer `name`.
pub(crate) fn foreign_source(name: &str) -> PathBuf {
    bench().join("foreign").join(name)
}

/// Returns where foreign toolchains are installed and foreign programs built.
pub(crate) fn foreign_target() -> PathBuf {
    bench().join("target/foreign")
}

/// Returns where a run writes its results.
pub(crate) fn results() -> PathBuf {
    bench().join("target/results")
}

/// Returns where plots and their summary are written by default.
pub(crate) fn report() -> PathBuf {
    bench().join("target/report")
}

/// Returns where callgrind writes its profiles, for `callgrind_annotate`.
pub(crate) fn callgrind() -> PathBuf {
    bench().join("target/callgrind")
}

/// Returns the path of the committed instruction counts.
pub(crate) fn callgrind_baseline() -> PathBuf {
    bench().join("callgrind.baseline")
}
