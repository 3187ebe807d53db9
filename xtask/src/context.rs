//! Where the repository is, and where its build output goes.
//!
//! Paths only: nothing here runs a program or reads a file's contents.

use std::env;
use std::path::{Path, PathBuf};

/// The places that jobs work in.
pub(crate) struct Context {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// Cargo's target directory; jobs with a toolchain of their own build in a directory below it.
    pub(crate) target: PathBuf,
}

impl Context {
    /// Finds the repository from this crate's manifest, so that the working directory does not matter.
    pub(crate) fn locate() -> Self {
        // Cargo's value at run time comes first: the compiled-in one is stale once the repository was moved.
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let manifest_dir = manifest_dir.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = manifest_dir.parent().unwrap_or(Path::new(".")).to_path_buf();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), absolute);
        Self { root, target }
    }

    /// The manifest of the benchmarks' own workspace.
    pub(crate) fn bench_manifest(&self) -> PathBuf {
        self.root.join("bench/Cargo.toml")
    }

    /// The manifest of the fuzzer's own workspace.
    pub(crate) fn fuzz_manifest(&self) -> PathBuf {
        self.root.join("fuzz/Cargo.toml")
    }
}

/// Jobs run in the repository's root, so a relative directory must be settled against ours first.
fn absolute(path: std::ffi::OsString) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| path.into())
}
