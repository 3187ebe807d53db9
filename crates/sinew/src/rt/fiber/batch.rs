//! Making many fibers at once. Whom to wake for them is worked out once.
//!
//! # Safety
//!
//! Trusted with the right to run the new fibers: it goes to the scheduler with all of them.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::sync::Arc;

use sinew_sched::TaskRef;

use super::body::Body;
use super::handle::FiberHandle;
use super::host::FiberHost;
use super::spawn::{Attributes, Site, SpawnRefused, make};
use crate::rt::wait::Control;

/// Makes a fiber of each body, and has all of them run. If one is refused, or the iterator panics, none runs: those that were
/// made are discarded.
///
/// # Safety
///
/// As [`spawn`](super::spawn::spawn), for all of them.
pub(crate) unsafe fn spawn_batch<F: Body<T>, T>(
    host: &Arc<FiberHost>,
    attributes: impl Fn() -> Attributes,
    bodies: impl Iterator<Item = F>,
) -> Result<Vec<FiberHandle<T>>, SpawnRefused<F>> {
    let most = bodies.size_hint().0;
    let (mut handles, mut tasks) = (Vec::with_capacity(most), Vec::with_capacity(most));
    for body in bodies {
        // Looked for each time: the iterator is the caller's code, and may have waited, and moved.
        let site = Site::of(host);
        // SAFETY: the caller's promise, and the site is the caller's.
        let (handle, control) = unsafe { make(site, attributes(), body) }?;
        handles.push(handle);
        // SAFETY: the right to run it is new, and ours.
        tasks.push(unsafe { Control::task(control) });
    }
    submit(host, tasks);
    Ok(handles)
}

fn submit(host: &Arc<FiberHost>, tasks: Vec<TaskRef>) {
    match Site::of(host) {
        Site::Worker(local) => local.context().submit_batch(tasks),
        Site::Outside(host) => host.schedule().schedule_all(tasks),
    }
}
