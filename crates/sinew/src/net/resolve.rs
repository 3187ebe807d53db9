//! Resolves names without blocking the worker. Knows no names.

use std::io;
use std::panic::{self, AssertUnwindSafe, Location};

use crate::channel::oneshot;
use crate::fiber::{self, Stopped};
use crate::rt;

/// Runs `job`, which may take long, on another thread while the caller waits. The worker runs other
/// fibers meanwhile, and a cancel or a deadline ends the wait; the job then still runs to its end,
/// and its result is dropped. A plain thread that nothing can stop runs the job itself.
///
/// # Errors
///
/// Returns an error if the caller is stopped, if no thread can be started, or if the job panics.
#[track_caller]
pub(super) fn off_worker<R: Send + 'static>(job: impl FnOnce() -> R + Send + 'static) -> io::Result<R> {
    fiber::checkpoint()?;
    if rt::running().is_some() {
        // Outside `catch_unwind`, so that this panic is not taken for one of the job.
        rt::check_may_wait();
        let at = Location::caller();
        let looked = panic::catch_unwind(AssertUnwindSafe(|| rt::blocking_or_stop(job)));
        return Ok(looked.map_err(|_| panicked())?.map_err(|stop| Stopped::new(stop, at))?);
    }
    if rt::deadline().is_none() && !rt::may_be_cancelled() {
        return Ok(job());
    }
    let (sender, mut receiver) = oneshot::channel();
    // The caller may have stopped waiting by then, so a failed send is no error.
    let look = move || drop(sender.send(job()));
    rt::spawn_thread("sinew-resolver".to_owned(), None, look)?;
    receiver.recv_cancellable()?.map_err(|_| panicked())
}

fn panicked() -> io::Error {
    io::Error::other("name resolution has panicked")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::Runtime;

    /// The job ends only if another fiber of the same worker runs.
    #[test]
    fn the_worker_runs_other_fibers() {
        let runtime = Runtime::builder().workers(1).start().unwrap();
        runtime.run(|| {
            let (sender, receiver) = mpsc::channel();
            let other = fiber::spawn(move || sender.send(7).unwrap());
            assert_eq!(off_worker(move || receiver.recv().unwrap()).unwrap(), 7);
            other.join().unwrap();
        });
    }

    /// The job never ends, but the wait of a fiber or a thread does.
    #[test]
    fn a_deadline_or_a_cancel_ends_the_wait() {
        let runtime = Runtime::builder().workers(1).start().unwrap();
        let begin = line!();
        let check = move || {
            let (sender, receiver) = mpsc::channel::<()>();
            let (first, second) = mpsc::channel::<()>();
            let soon = Instant::now() + Duration::from_millis(1);
            let error = fiber::with_deadline(soon, || off_worker(move || receiver.recv())).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let at = error.downcast::<Stopped>().unwrap().at();
            assert!(at.file() == file!() && at.line() > begin, "{at}");
            let token = fiber::CancelToken::new();
            let canceller = token.clone();
            let canceller = fiber::spawn(move || canceller.cancel());
            let error = token.run(|| off_worker(move || second.recv())).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other);
            canceller.join().unwrap();
            drop((sender, first));
        };
        runtime.run(check);
        check();
    }

    #[test]
    fn a_panic_is_an_error() {
        let runtime = Runtime::builder().workers(1).start().unwrap();
        // `resume_unwind` does not call the panic hook, which would print the panic.
        let call = || panic::resume_unwind(Box::new("on purpose"));
        let error = runtime.run(move || off_worker(call).map(|(): ()| ())).unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
    }
}
