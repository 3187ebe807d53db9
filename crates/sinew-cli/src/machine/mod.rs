//! What the machine and its limits leave to this process, as far as the library does not tell.
//! Knows no chapter and no advice.

pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod system_calls;

use std::fs;

/// Reads a file that has one number.
pub(crate) fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
