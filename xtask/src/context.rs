//! The paths of the repository and of its build output.
//!
//! It knows only paths: it runs no program and reads no file.

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
    /// Finds the repository from this crate's manifest, so that the working directory does not
    /// matter.
    pub(crate) fn locate() -> Self {
        // Cargo's value at run time comes first: the compiled-in value is wrong after the
        // repository has moved.
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let manifest_dir = manifest_dir.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = manifest_dir.parent().unwrap_or(Path::new(".")).to_path_buf();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), absolute);
        Self { root, target }
    }

    /// Returns the manifest of the benchmarks' own workspace.
    pub(crate) fn bench_manifest(&self) -> PathBuf {
        self.root.join("bench/Cargo.toml")
    }

    /// Returns the manifest of the fuzzer's own workspace.
    pub(crate) fn fuzz_manifest(&self) -> PathBuf {
        self.root.join("fuzz/Cargo.toml")
    }
}

/// Makes a path absolute. Jobs run in the repository's root, so a relative path must be resolved
/// against the present working directory first.
fn absolute(path: std::ffi::OsString) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| path.into())
}
