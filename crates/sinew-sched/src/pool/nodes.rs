//! Tests of where in a machine's memory a group is: on its node. The address of a group is not for users to know, so that they are
//! here and not with the others.
//!
//! Skipped on a machine with one node, unless `SINEW_REQUIRE_NODES` says how many there must be.
//!
//! # Safety
//!
//! A system call that tells where pages are, and changes nothing.
#![expect(unsafe_code, reason = "a system call")]

use std::process::Command;

use super::Pool;
use crate::group::Group;
use sinew_topology::{CpuSet, Plan, Wishes, restrict_thread};

/// A group for each node of this machine, if it has two.
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

/// The node that has the page of this value.
fn node_of<T>(value: &T) -> usize {
    let (mut node, no_mask) = (-1_i32, std::ptr::null_mut::<libc::c_ulong>());
    // From the kernel's `uapi/linux/mempolicy.h`: the node, and not the policy; of an address, and not of the thread.
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

/// What a group's workers share, and where it is.
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

/// Whoever builds a pool is on one of the nodes, and the others' groups must not be there.
///
/// In processes of their own: memory that was used before is where it was, and an allocator may give it to whoever asks.
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
