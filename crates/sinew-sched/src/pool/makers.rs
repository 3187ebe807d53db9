//! Threads that make what is for a node's workers, so that its memory is there: it is where it is first written to. Knows no group.

use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use super::error::BuildError;
use crate::sync::Lock;
use sinew_topology::{CpuSet, Pinning, restrict_thread};

/// Has `make` called on threads of the nodes of all groups, for those of one node at a time, and returns all that it made.
///
/// The threads stay until the last is done. Allocators have memory by the thread, and would give that of one which has ended to the
/// next one: pages that the other node has used.
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
                    // Whoever waits for it waits until it is there, or this thread is gone.
                    let _ = sender.send(make(of_node));
                    drop(door.lock());
                });
            };
            let made = match thread::Builder::new().spawn_scoped(scope, maker) {
                Ok(thread) => receiver.recv().unwrap_or_else(|_| panic_as(thread)),
                // Without a thread, memory is wherever it is.
                Err(_) => make(of_node),
            };
            all.extend(made?);
        }
        Ok(all)
    })
}

/// Calls `body` on a thread that has never run elsewhere, for as long as it can be had: the calling one has, and the first that an
/// allocator had for it is there.
fn on_these(cpus: &CpuSet, body: impl Fn() + Sync) {
    // If the kernel refuses, memory is wherever it is.
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

/// The CPUs of some groups.
fn cpus_of(pinning: &Pinning, groups: &[usize]) -> CpuSet {
    let cpus = groups.iter().filter_map(|group| pinning.group(*group));
    cpus.fold(CpuSet::new(), |all, cpus| &all | &cpus)
}

/// A thread that is gone without a word has panicked.
fn panic_as<T>(thread: ScopedJoinHandle<'_, ()>) -> T {
    match thread.join() {
        Err(payload) => std::panic::resume_unwind(payload),
        Ok(()) => unreachable!("it sends what it made before it ends"),
    }
}
