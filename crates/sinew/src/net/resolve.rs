//! Looking names up without holding up the worker. Knows no names.

use std::io;
use std::thread;

use crate::channel::oneshot;
use crate::fiber;
use crate::rt;

/// Does what may take long on another thread, while the caller waits: so that others run on its worker, and so that a cancel or a deadline ends the wait.
/// What is done then has nobody to tell. A plain thread that nothing can stop does it itself.
///
/// # Errors
///
/// If the caller is to stop, or there is no thread to be had.
#[track_caller]
pub(super) fn off_worker<R: Send + 'static>(job: impl FnOnce() -> R + Send + 'static) -> io::Result<R> {
    fiber::checkpoint()?;
    if rt::running().is_none() && rt::deadline().is_none() && !rt::may_be_cancelled() {
        return Ok(job());
    }
    // Before anything is begun for the caller.
    rt::check_may_wait();
    let (sender, mut receiver) = oneshot::channel();
    // Whoever has asked may be gone by then.
    let look = move || drop(sender.send(job()));
    thread::Builder::new().name("sinew-resolver".to_owned()).spawn(look)?;
    receiver.recv_cancellable()?.map_err(|_| io::Error::other("looking a name up has panicked"))
}
