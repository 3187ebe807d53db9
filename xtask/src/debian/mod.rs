//! What checks need from outside the Rust toolchain, taken from Debian's archive.
//!
//! Two ways, kept apart: [`install`] puts ordinary programs on the machine, as root; [`rust`] unpacks Debian's
//! compiler below the target directory, without installing it and without root, since as a package it would
//! push rustup off the machine. No mirror is named anywhere: apt's own configuration says where packages are.

mod apt;
pub(crate) mod install;
pub(crate) mod rust;
