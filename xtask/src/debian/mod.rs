//! What checks need from outside the Rust toolchain, taken from Debian's archive.
//!
//! Two ways, kept apart: [`install`] puts ordinary programs on the machine, as root; [`unpacked`] unpacks packages
//! below the target directory, without installing them and without root. So comes Debian's compiler, [`rust`], which
//! as a package would push rustup off the machine. No mirror is named anywhere: apt's own configuration says where
//! packages are.

pub(crate) mod apt;
pub(crate) mod install;
pub(crate) mod rust;
pub(crate) mod unpacked;
