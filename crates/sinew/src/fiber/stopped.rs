//! The error of calls that were stopped by cancellation or a deadline.

use std::error::Error;
use std::panic::Location;
use std::sync::Arc;
use std::{fmt, io};

use super::current::current;
use super::id::FiberId;
use super::reference::Fiber;
use crate::rt::{Stop, What};

/// The error of calls that observe cancellation and [deadlines](super::with_deadline).
///
/// It contains what was cancelled, where in the program and why, or where the deadline was set. It
/// also contains which fiber or thread noticed it, and where:
///
/// ```
/// use sinew::fiber;
///
/// let fiber = fiber::Builder::new().name("weaver".to_owned()).spawn(fiber::park_cancellable)?;
/// fiber.cancel();
/// let stopped = fiber.join().unwrap().unwrap_err();
/// assert!(stopped.is_cancelled() && !stopped.is_timed_out());
/// assert_eq!(stopped.fiber().name(), Some("weaver"));
/// assert_eq!(stopped.by().file(), file!());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Converted to an [`io::Error`] it has the kind [`TimedOut`](io::ErrorKind::TimedOut) for a
/// deadline and [`Other`](io::ErrorKind::Other) for a cancel. The kind is not `Interrupted`,
/// because code that retries interrupted calls would then never end. The error itself is inside,
/// and can be downcast:
///
/// ```
/// use sinew::fiber::{self, CancelToken, Stopped};
/// use std::io;
///
/// fn work() -> io::Result<()> {
///     Ok(fiber::checkpoint()?)
/// }
///
/// let token = CancelToken::new();
/// token.cancel_with_reason("the server shuts down");
/// let stopped = token.run(work).unwrap_err().downcast::<Stopped>().unwrap();
/// assert_eq!(stopped.reason(), Some("the server shuts down"));
/// ```
#[derive(Clone)]
pub struct Stopped {
    /// Boxed to keep results with this error small, because their calls mostly succeed.
    inner: Arc<StoppedInner>,
}

struct StoppedInner {
    stop: Stop,
    fiber: Fiber,
    at: &'static Location<'static>,
}

impl Stopped {
    /// Creates the error for the calling fiber or thread, which noticed it at `at`.
    #[cold]
    pub(crate) fn new(stop: Stop, at: &'static Location<'static>) -> Self {
        Self { inner: Arc::new(StoppedInner { stop, fiber: current(), at }) }
    }

    /// Returns this error as noticed at `at`, for a stop that was noticed on behalf of a call
    /// there.
    #[cfg(not(loom))]
    #[cold]
    pub(crate) fn noticed_at(&self, at: &'static Location<'static>) -> Self {
        let StoppedInner { stop, fiber, .. } = &*self.inner;
        Self { inner: Arc::new(StoppedInner { stop: stop.clone(), fiber: fiber.clone(), at }) }
    }

    /// Returns the error, except that a `Stopped` inside it is replaced by one that was noticed at
    /// `at`.
    #[cfg(not(loom))]
    #[cold]
    pub(crate) fn in_error_at(error: io::Error, at: &'static Location<'static>) -> io::Error {
        let kind = error.kind();
        match error.downcast::<Self>() {
            Ok(stopped) => io::Error::new(kind, stopped.noticed_at(at)),
            Err(error) => error,
        }
    }

    /// Returns whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.inner.stop, Stop::Cancelled(_))
    }

    /// Returns whether the call failed because the deadline had passed.
    #[must_use]
    pub fn is_timed_out(&self) -> bool {
        matches!(self.inner.stop, Stop::TimedOut(_))
    }

    /// Returns the reason of the cancel, if it was given one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match &self.inner.stop {
            Stop::Cancelled(why) => why.reason.as_deref(),
            Stop::TimedOut(_) => None,
        }
    }

    /// Returns the place in the program that cancelled the call, or that set the deadline.
    #[must_use]
    pub fn by(&self) -> &'static Location<'static> {
        match &self.inner.stop {
            Stop::Cancelled(why) => why.by,
            Stop::TimedOut(deadline) => deadline.by,
        }
    }

    /// Returns the place in the program that noticed it: the call that returned the error.
    ///
    /// If sinew's method is called by code of std, this is a line of std. Such code includes the
    /// provided methods of std's traits that sinew's types do not define themselves, such as
    /// [`write_fmt`](io::Write::write_fmt) (by `write!`) and [`read_to_end`](io::Read::read_to_end)
    /// of a socket, and all of [`BufReader`](io::BufReader), [`BufWriter`](io::BufWriter) and
    /// similar types. For a call through `dyn Read` or `dyn Write`, this is the line of sinew's
    /// method.
    #[must_use]
    pub fn at(&self) -> &'static Location<'static> {
        self.inner.at
    }

    /// Returns the fiber that noticed it, or the plain thread.
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        &self.inner.fiber
    }

    /// Returns the identifier of that fiber or thread.
    #[must_use]
    pub fn fiber_id(&self) -> FiberId {
        self.inner.fiber.id()
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, by) = (self.fiber_id().as_u64(), self.by());
        let kind = if self.fiber().inner().control().is_some() { "fiber" } else { "thread" };
        match self.fiber().name() {
            Some(name) => write!(f, "{kind} '{name}' ({number}) stopped at {}: ", self.at())?,
            None => write!(f, "{kind} {number} stopped at {}: ", self.at())?,
        }
        match &self.inner.stop {
            Stop::TimedOut(_) => write!(f, "the deadline that was set at {by} had passed"),
            Stop::Cancelled(why) => match why.what {
                What::Fiber(this) if this == number => write!(f, "it was cancelled at {by}"),
                What::Fiber(other) => write!(f, "fiber {other}, which it is part of, was cancelled at {by}"),
                What::Scope => write!(f, "its scope was cancelled at {by}"),
                What::Token => write!(f, "its token was cancelled at {by}"),
            },
        }?;
        self.reason().map_or(Ok(()), |reason| write!(f, " ({reason})"))
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopped")
            .field("is_timed_out", &self.is_timed_out())
            .field("reason", &self.reason())
            .field("by", self.by())
            .field("at", self.at())
            .field("fiber", self.fiber())
            .finish()
    }
}

impl Error for Stopped {}

impl From<Stopped> for io::Error {
    fn from(stopped: Stopped) -> Self {
        let kind = if stopped.is_timed_out() { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
        Self::new(kind, stopped)
    }
}
