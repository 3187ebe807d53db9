//! The tests of both pillars under ThreadSanitizer, with a std that is instrumented too.
//!
//! A prebuilt std causes false alarms. Building one needs its source, which the installed
//! toolchains lack. So this job uses Debian's compiler and source, with the sanitizer's runtime of
//! the installed toolchain. What the library tells the sanitizer is behind `cfg(sinew_tsan)`; this
//! file does not know it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{LIBRARY, PLAIN_PANICS, STRATEGY, WORKERS};
use crate::context::Context;
use crate::debian::rust::DebianRust;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};
use crate::job::{Depth, Job};

/// No two threads race in the pillars.
pub(crate) const JOB: Job = Job {
    name: "tsan",
    about: "the library's tests pass under ThreadSanitizer (Debian's rustc, std rebuilt)",
    depth: Depth::Deep,
    needs: &[],
    run,
};

const TARGET: &str = "x86_64-unknown-linux-gnu";
const RUNTIME: &str = "librustc-stable_rt.tsan.a";
const FLAGS: &str = "-Zsanitizer=thread --cfg sinew_tsan";

fn run(context: &Context) -> Result {
    let rust = DebianRust::ensure(context)?;
    lend_runtime(&rust.host_libraries())?;
    rust.cargo(context, &["test", "--target", TARGET, "-Zbuild-std=std,panic_unwind"])
        .args(LIBRARY)
        .env(PLAIN_PANICS.0, PLAIN_PANICS.1)
        .env(STRATEGY, "shared")
        .env(WORKERS, "8")
        // A released compiler accepts unstable options only with this variable. std is compiled by
        // the version that it came with.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS)
        // Tests of guard pages expect to die by the kernel's signal, not by the sanitizer's report
        // of it.
        .env("TSAN_OPTIONS", "handle_segv=0")
        .env("CARGO_TARGET_DIR", context.target.join("tsan"))
        .run()
}

/// Copies the sanitizer's runtime of the installed toolchain, since Debian ships none.
fn lend_runtime(libraries: &Path) -> Result {
    let sysroot = Exec::new("rustc").args(["--print", "sysroot"]).read()?;
    let ours = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib");
    fs::copy(runtime_in(&ours)?, libraries.join(RUNTIME)).while_doing("copying the tsan runtime")?;
    Ok(())
}

/// Returns the runtime's file. Its name contains the channel of the toolchain, which need not be
/// stable.
fn runtime_in(libraries: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(libraries).while_doing(libraries.display())?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .find(|path| path.to_string_lossy().ends_with("_rt.tsan.a"))
        .ok_or_else(|| Failure::new(format!("no tsan runtime in {}", libraries.display())))
}
