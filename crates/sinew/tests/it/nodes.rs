//! What the kernel tells of NUMA nodes: which there are, where a thread runs, where memory is.
//!
//! Tests that need two nodes are skipped on a machine with one, unless `SINEW_REQUIRE_NODES` says
//! how many there must be. Nothing here asks the library, so that nothing is compared with itself.
//!
//! # Safety
//!
//! System calls that tell and change nothing.
#![expect(unsafe_code, reason = "system calls")]

use sinew::topology::CpuSet;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The CPUs that the calling thread may run on.
pub(crate) fn allowed() -> CpuSet {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().parse().unwrap()
}

/// The nodes where this process may run: their numbers and CPUs. If there are not two with memory,
/// says so and returns nothing.
pub(crate) fn nodes() -> Option<BTreeMap<usize, CpuSet>> {
    let files = Path::new("/sys/devices/system/node");
    let read = |path: &str| fs::read_to_string(files.join(path)).unwrap_or_default();
    let list = |path: &str| read(path).trim().parse().unwrap_or_else(|_| CpuSet::new());
    let cpus = |node: u32| &list(&format!("node{node}/cpulist")) & &allowed();
    let all = list("has_memory").iter().map(|node| (node as usize, cpus(node))).collect::<Vec<_>>();
    let found: BTreeMap<_, _> = all.into_iter().filter(|(_, cpus)| !cpus.is_empty()).collect();
    let required = std::env::var("SINEW_REQUIRE_NODES").map_or(0, |count| count.parse().expect("a number"));
    assert!(found.len() >= required, "{required} nodes are required here: {found:?}");
    if found.len() < 2 {
        eprintln!("skipped: it takes two nodes");
        return None;
    }
    Some(found)
}

/// The node on which the calling thread runs.
pub(crate) fn current_node() -> usize {
    let (mut cpu, mut node) = (0_u32, 0_u32);
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: both are places for a number; the third is not used since Linux 2.6.24.
    let result = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, nothing) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    node as usize
}

/// The node that has the page of this value.
pub(crate) fn node_of<T>(value: &T) -> usize {
    let (mut node, no_mask) = (-1_i32, std::ptr::null_mut::<libc::c_ulong>());
    // From the kernel's `uapi/linux/mempolicy.h`: the node, and not the policy; of an address, and
    // not of the thread.
    let flags = 1 << 0 | 1 << 1;
    // SAFETY: an address of this process and a place for a number; the mask is not asked for.
    let result = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut node,
            no_mask,
            0_usize,
            std::ptr::from_ref(value),
            flags,
        )
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    usize::try_from(node).expect("a node")
}
