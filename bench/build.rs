//! Tells the program which compiler built it: an instruction count belongs to a compiler and a
//! target.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map_or_else(
        |_| "rustc (unknown version)".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=SINEW_BENCH_RUSTC={version} {target}");
    println!("cargo:rerun-if-changed=build.rs");
}
