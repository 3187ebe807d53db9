//! Spawning many fibers at once. Which workers to wake for them is decided once.
//!
//! # Safety
//!
//! Trusted with the right to run the new fibers: the scheduler gets the right to all of them at
//! once.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::sync::Arc;

use sinew_sched::TaskRef;

use super::body::Body;
use super::handle::FiberHandle;
use super::host::FiberHost;
use super::spawn::{Attributes, Site, SpawnRefused, make};
use crate::rt::wait::Control;

/// Spawns a fiber for each body. If a fiber is refused, or the iterator panics, none runs: the
/// fibers made so far are discarded.
///
/// # Safety
///
/// As for [`spawn`](super::spawn::spawn), for all of them.
pub(crate) unsafe fn spawn_batch<F: Body<T>, T>(
    host: &Arc<FiberHost>,
    attributes: impl Fn() -> Attributes,
    bodies: impl Iterator<Item = F>,
) -> Result<Vec<FiberHandle<T>>, SpawnRefused<F>> {
    let most = bodies.size_hint().0;
    let (mut handles, mut tasks) = (Vec::with_capacity(most), Vec::with_capacity(most));
    for body in bodies {
        // Determined each time: the iterator is user code, and may have waited and migrated.
        let site = Site::of(host);
        // SAFETY: the caller's promise, and the site is the caller's.
        let (handle, control) = unsafe { make(site, attributes(), body) }?;
        handles.push(handle);
        // SAFETY: the right to run the new fiber is this function's.
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
