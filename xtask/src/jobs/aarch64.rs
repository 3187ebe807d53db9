//! The tests of both pillars on aarch64, run by qemu's user-mode emulation.
//!
//! The emulator runs on a strongly ordered machine: this job tests the assembly, not memory
//! ordering.

use super::{PLAIN_PANICS, STACKS, STRATEGY, WORKERS};
use crate::context::Context;
use crate::debian::rust::DebianRust;
use crate::failure::Result;
use crate::job::{Depth, Job, Tool};

/// The second architecture works.
pub(crate) const JOB: Job = Job {
    name: "aarch64",
    about: "the library's tests that depend on the machine pass on aarch64 (Debian's rustc, qemu-user)",
    depth: Depth::Deep,
    needs: &[
        Tool { probe: "aarch64-linux-gnu-gcc", package: "gcc-aarch64-linux-gnu" },
        Tool { probe: "/usr/aarch64-linux-gnu/lib/crt1.o", package: "libc6-dev-arm64-cross" },
        Tool { probe: "qemu-aarch64", package: "qemu-user" },
    ],
    run,
};

fn run(context: &Context) -> Result {
    let rust = DebianRust::ensure(context)?;
    rust.cargo(context, &["test", "--target", "aarch64-unknown-linux-gnu"])
        .args(STACKS)
        // Tests that do not depend on the machine run on the host.
        .env("RUSTFLAGS", "--cfg sinew_few")
        .env(PLAIN_PANICS.0, PLAIN_PANICS.1)
        // The emulator has several threads. If one of them is inside the library's allocator while
        // another one forks, the child finds the allocator's lock held for ever. The C library's
        // own allocator is safe.
        .env("G_SLICE", "always-malloc")
        .env(STRATEGY, "local")
        .env(WORKERS, "2")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu")
        .env("CARGO_TARGET_DIR", context.target.join("aarch64"))
        .run()
}
