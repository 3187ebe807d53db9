//! Threads that make what is for the workers of a node, so that its memory is on that node: the
//! kernel places a page where it is first written. Knows no group.

use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use super::error::BuildError;
use crate::sync::Lock;
use sinew_topology::{CpuSet, Pinning, restrict_thread};

/// Calls `make` on threads of the nodes of all groups, with the groups of one node at a time, and
/// returns all that it made.
///
/// The threads stay until the last one is done. Allocators keep memory by thread, and give that of
/// an ended thread to the next one: pages that are on the other node.
pub(super) fn make_on_nodes<T: Send>(
    pinning: &Pinning,
    groups: &[usize],
    make: impl Fn(&[usize]) -> Result<Vec<T>, BuildError> + Sync,
) -> Result<Vec<T>, BuildError> {
    let (door, make) = (&Lock::new(()), &make);
    thread::scope(|scope| {
        let _closed = door.lock();
        let mut all = Vec::with_capacity(groups.len());
        for of_node in groups.chunk_by(|one, next| pinning.node(*one) == pinning.node(*next)) {
            let (sender, receiver) = mpsc::sync_channel(1);
            let maker = move || {
                on_these(&cpus_of(pinning, of_node), || {
                    // The receiver waits for this result, or until this thread is gone.
                    let _ = sender.send(make(of_node));
                    drop(door.lock());
                });
            };
            let made = match thread::Builder::new().spawn_scoped(scope, maker) {
                Ok(thread) => receiver.recv().unwrap_or_else(|_| panic_as(thread)),
                // Without a thread, the memory may be on any node.
                Err(_) => make(of_node),
            };
            all.extend(made?);
        }
        Ok(all)
    })
}

/// Calls `body` on a new thread, which has never run on other CPUs, if one can be started. The
/// calling thread has, and the memory that an allocator first gave it may be on another node.
fn on_these(cpus: &CpuSet, body: impl Fn() + Sync) {
    // If the kernel refuses, the memory may be on any node.
    let _ = restrict_thread(cpus);
    thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, &body) {
        Ok(thread) => {
            if let Err(payload) = thread.join() {
                std::panic::resume_unwind(payload);
            }
        }
        Err(_) => body(),
    });
}

/// Returns the CPUs of some groups.
fn cpus_of(pinning: &Pinning, groups: &[usize]) -> CpuSet {
    let cpus = groups.iter().filter_map(|group| pinning.group(*group));
    cpus.fold(CpuSet::new(), |all, cpus| &all | &cpus)
}

/// Passes on the panic of a thread that has ended without a result.
fn panic_as<T>(thread: ScopedJoinHandle<'_, ()>) -> T {
    match thread.join() {
        Err(payload) => std::panic::resume_unwind(payload),
        Ok(()) => unreachable!("it sends what it made before it ends"),
    }
}
