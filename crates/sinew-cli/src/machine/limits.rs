//! Limits of the process: descriptors, mappings, address space, ports.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::number_in;

/// The kernel's own limit of mappings, where it cannot be read.
const USUAL_MAPPINGS: u64 = 65_530;

/// Descriptors that the process may have open, and how far it may raise that itself. `u64::MAX` is
/// no limit.
pub(crate) fn descriptors() -> (u64, u64) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX))
}

/// Lets the process have `wanted` descriptors open, or as many as it may. Returns the new limit.
pub(crate) fn raise_descriptors(wanted: u64) -> u64 {
    let (soft, hard) = descriptors();
    let raised = wanted.min(hard);
    if raised <= soft {
        return soft;
    }
    let limit = Rlimit { current: Some(raised), maximum: getrlimit(Resource::Nofile).maximum };
    if setrlimit(Resource::Nofile, limit).is_ok() { raised } else { soft }
}

/// Has the process leave no core file when it aborts on purpose.
pub(crate) fn forbid_core_files() -> io::Result<()> {
    let limit = Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum };
    Ok(setrlimit(Resource::Core, limit)?)
}

/// Descriptors that are open.
pub(crate) fn open_descriptors() -> io::Result<u64> {
    Ok(fs::read_dir("/proc/self/fd")?.count() as u64)
}

/// Mappings that a process may have.
pub(crate) fn mappings() -> u64 {
    number_in("/proc/sys/vm/max_map_count").unwrap_or(USUAL_MAPPINGS)
}

/// Bytes of address space that the process may have, if that is limited.
pub(crate) fn address_space() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// Ports that clients of one address may have.
pub(crate) fn ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some((last + 1).saturating_sub(first))
}
