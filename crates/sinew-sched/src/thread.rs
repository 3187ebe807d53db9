//! Starts threads that do not inherit the output capture of a test. Knows no worker.
//!
//! libtest captures a test's output through a thread-local, and std copies that into each thread
//! which a captured thread starts. A worker outlives the test that happens to start it. What tasks
//! of later tests print, including the messages of their panics, would end up in the output of a
//! test that has passed, which libtest does not show. std has no stable call that removes the
//! capture. Therefore each thread is started by a thread without a capture: by a thread that was
//! itself started here, or by a raw thread that does nothing else.
//!
//! # Safety
//!
//! Trusted with a raw thread that borrows from its starter's frame: the starter joins it before
//! that frame ends.
#![expect(unsafe_code, reason = "raw threads are the C library's")]

use std::any::Any;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::{io, process, ptr, thread};

use crate::tls;

/// Starts a thread that does not inherit the caller's output capture. It has std's default stack
/// size, unless one is given.
///
/// # Errors
///
/// Returns the error of the system if it refuses this thread, or the raw thread that starts it.
///
/// # Panics
///
/// Panics if the name contains a NUL, as std does.
pub fn spawn_thread(
    name: String,
    stack_size: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let mut builder = thread::Builder::new().name(name);
    if let Some(size) = stack_size {
        builder = builder.stack_size(size);
    }
    let marked = move || {
        tls::set_uncaptured();
        body();
    };
    let start = move || builder.spawn(marked).map(drop);
    if tls::is_uncaptured() { start() } else { on_raw_thread(start).flatten() }
}

/// What a raw thread calls, and later the result.
struct RawJob<F, R> {
    call: Option<F>,
    result: Option<Result<R, Box<dyn Any + Send>>>,
}

/// Calls `call` on a new raw thread, waits for its end, and passes a panic on.
///
/// # Errors
///
/// Returns the error of the system if it refuses the thread. `call` is then dropped without being
/// called.
fn on_raw_thread<F: FnOnce() -> R + Send, R: Send>(call: F) -> io::Result<R> {
    let mut job = RawJob { call: Some(call), result: None };
    let mut raw = MaybeUninit::uninit();
    // SAFETY: `run` gets a pointer to the kind of job that it expects. The job lives, and no other
    // thread uses it, until the thread is joined below.
    let code =
        unsafe { libc::pthread_create(raw.as_mut_ptr(), ptr::null(), run::<F, R>, (&raw mut job).cast()) };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    // SAFETY: the call above has succeeded, so it has written the thread.
    let raw = unsafe { raw.assume_init() };
    // SAFETY: the thread was created joinable, and is joined only here.
    if unsafe { libc::pthread_join(raw, ptr::null_mut()) } != 0 {
        // The thread may still use the job in this frame, which therefore must not end. This cannot
        // happen: the thread exists, is joinable, and is another one.
        process::abort();
    }
    match job.result {
        Some(Ok(result)) => Ok(result),
        Some(Err(payload)) => resume_unwind(payload),
        None => unreachable!("the thread was joined, so it has called `call`"),
    }
}

/// The start function of a raw thread. `data` is a [`RawJob`] of these types.
extern "C" fn run<F: FnOnce() -> R, R>(data: *mut c_void) -> *mut c_void {
    // SAFETY: `on_raw_thread` passes a job of these types, and uses it again only after this
    // thread's end.
    let job = unsafe { &mut *data.cast::<RawJob<F, R>>() };
    job.result = job.call.take().map(|call| catch_unwind(AssertUnwindSafe(call)));
    ptr::null_mut()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::mute::mute;

    #[test]
    fn a_thread_has_its_name_and_starts_others_without_a_detour() {
        let (sender, receiver) = mpsc::channel();
        assert!(!tls::is_uncaptured());
        let body = move || {
            let name = thread::current().name().map(str::to_owned);
            let report = move || sender.send((name, tls::is_uncaptured())).unwrap();
            spawn_thread("inner".to_owned(), None, report).unwrap();
        };
        spawn_thread("outer".to_owned(), Some(256 * 1024), body).unwrap();
        assert_eq!(receiver.recv(), Ok((Some("outer".to_owned()), true)));
        assert!(!tls::is_uncaptured(), "the mark is of the new thread alone");
    }

    #[test]
    fn an_error_of_either_thread_is_returned() {
        let error = spawn_thread("large".to_owned(), Some(1 << 60), || ()).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
        let inner: io::Result<io::Result<()>> = on_raw_thread(|| Err(io::ErrorKind::ResourceBusy.into()));
        assert_eq!(inner.unwrap().unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    }

    #[test]
    fn a_panic_is_passed_on() {
        let _muted = mute("thread name may not contain interior null bytes");
        let panic = catch_unwind(|| spawn_thread("a\0b".to_owned(), None, || ())).unwrap_err();
        assert!(panic.is::<&str>() || panic.is::<String>());
        let panic = catch_unwind(|| on_raw_thread(|| -> () { resume_unwind(Box::new(7)) })).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&7));
    }
}
