//! Tests that the memory of a group is on the group's node. They are here because users cannot see
//! the address of a group.
//!
//! Skipped on a machine with one node, unless `SINEW_REQUIRE_NODES` says how many there must be.
//!
//! # Safety
//!
//! A system call that reads where pages are, and changes nothing.
#![expect(unsafe_code, reason = "a system call")]

use std::process::Command;

use super::Pool;
use crate::group::Group;
use sinew_topology::{CpuSet, Plan, Wishes, restrict_thread};

/// Returns a plan with a group for each node of this machine, if it has two.
fn plan() -> Option<Plan> {
    let wishes = Wishes { numa: Some(true), concurrency: Some(1), ..Wishes::default() };
    let plan = Plan::for_this_process("/", &wishes).unwrap();
    let found = plan.machine().nodes_of(plan.access().cpus()).filter(|node| node.has_memory()).count();
    let required = std::env::var("SINEW_REQUIRE_NODES").map_or(0, |count| count.parse().expect("a number"));
    assert!(found >= required, "{required} nodes are required here: {plan}");
    if found < 2 {
        eprintln!("skipped: it takes two nodes");
        return None;
    }
    Some(plan)
}

/// Returns the node that has the page of this value.
fn node_of<T>(value: &T) -> usize {
    let (mut node, no_mask) = (-1_i32, std::ptr::null_mut::<libc::c_ulong>());
    // From the kernel's `uapi/linux/mempolicy.h`: return the node and not the policy, of an address
    // and not of the thread.
    let flags = 1 << 0 | 1 << 1;
    // SAFETY: an address of this process, and a place for a number that lives through the call; the
    // mask is not requested.
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

/// Returns the node of each part that a group's workers share.
fn parts(group: &Group) -> Vec<(&'static str, usize)> {
    let mut parts = vec![
        ("queue", node_of(&group.queue)),
        ("queue of its own", node_of(&group.kept)),
        ("idle workers", node_of(&group.idle)),
    ];
    for seat in group.seats() {
        parts.extend([
            ("seat", node_of(seat)),
            ("mailbox", node_of(&*seat.mailbox)),
            ("counters", node_of(&*seat.counters)),
        ]);
    }
    parts
}

const NAME: &str = "pool::nodes::groups_are_in_the_memory_of_their_nodes";
const CHILD: &str = "SINEW_TEST_CHILD";

/// The thread that builds the pool is on one of the nodes, and the groups of the other nodes must
/// not be there.
///
/// Each build has a process of its own: memory that was used before stays on its node, and an
/// allocator may return it.
#[test]
fn groups_are_in_the_memory_of_their_nodes() {
    let Some(plan) = plan() else { return };
    if let Ok(group) = std::env::var(CHILD) {
        return build_on(plan.pinning().group(group.parse().unwrap()).unwrap(), &plan);
    }
    for group in 0..plan.layout().groups() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([NAME, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, group.to_string());
        let output = child.output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success() && text[0].contains("1 passed"), "{}", text.concat());
    }
}

/// Builds the pool on a thread of one of the nodes.
fn build_on(cpus: CpuSet, plan: &Plan) {
    std::thread::scope(|scope| {
        let build = || {
            restrict_thread(&cpus).unwrap();
            Pool::builder().plan(plan).build().unwrap()
        };
        let pool = scope.spawn(build).join().unwrap();
        for group in pool.shared.groups() {
            let elsewhere: Vec<_> =
                parts(group).into_iter().filter(|(_, node)| *node != group.node()).collect();
            assert!(elsewhere.is_empty(), "for node {}, built on CPUs {cpus}: {elsewhere:?}", group.node());
        }
        assert!(pool.shutdown(None).drained);
    });
}
