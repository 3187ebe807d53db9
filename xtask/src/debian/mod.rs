//! What checks need from outside the Rust toolchain, taken from Debian's archive.
//!
//! There are two separate ways. [`install`] puts ordinary programs on the machine, as root.
//! [`unpacked`] unpacks packages below the target directory, without installing them and without
//! root. Debian's compiler, [`rust`], is unpacked, since as a package it would remove rustup from
//! the machine. No mirror is named: apt's own configuration says where packages are.

pub(crate) mod apt;
pub(crate) mod install;
pub(crate) mod rust;
pub(crate) mod unpacked;
