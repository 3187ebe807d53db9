//! Why a call came back early: it was cancelled, or its time was over.

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
/// It says what was cancelled, where in the program and why, or where the deadline was set; and which fiber or thread noticed it, and where:
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
/// As an [`io::Error`] it is [`TimedOut`](io::ErrorKind::TimedOut) for a deadline and [`Other`](io::ErrorKind::Other) for a cancel, so that
/// nobody who retries what was interrupted goes on for ever; the error itself is inside, and comes out again:
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
/// token.cancel_with_reason("closing time");
/// let stopped = token.run(work).unwrap_err().downcast::<Stopped>().unwrap();
/// assert_eq!(stopped.reason(), Some("closing time"));
/// ```
#[derive(Clone)]
pub struct Stopped {
    /// In a box, since results that have it are returned by calls that mostly succeed.
    inner: Arc<StoppedInner>,
}

struct StoppedInner {
    stop: Stop,
    fiber: Fiber,
    at: &'static Location<'static>,
}

impl Stopped {
    /// For the caller, who noticed it there.
    #[cold]
    pub(crate) fn new(stop: Stop, at: &'static Location<'static>) -> Self {
        Self { inner: Arc::new(StoppedInner { stop, fiber: current(), at }) }
    }

    /// The same, noticed there: for what was noticed on behalf of whoever called there.
    #[cfg(not(loom))]
    #[cold]
    pub(crate) fn noticed_at(&self, at: &'static Location<'static>) -> Self {
        let StoppedInner { stop, fiber, .. } = &*self.inner;
        Self { inner: Arc::new(StoppedInner { stop: stop.clone(), fiber: fiber.clone(), at }) }
    }

    /// An error as it is, except that one of these in it was noticed there.
    #[cfg(not(loom))]
    #[cold]
    pub(crate) fn in_error_at(error: io::Error, at: &'static Location<'static>) -> io::Error {
        let kind = error.kind();
        match error.downcast::<Self>() {
            Ok(stopped) => io::Error::new(kind, stopped.noticed_at(at)),
            Err(error) => error,
        }
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.inner.stop, Stop::Cancelled(_))
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_timed_out(&self) -> bool {
        matches!(self.inner.stop, Stop::TimedOut(_))
    }

    /// Why it was cancelled, if whoever did so said why.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match &self.inner.stop {
            Stop::Cancelled(why) => why.reason.as_deref(),
            Stop::TimedOut(_) => None,
        }
    }

    /// Where in the program it was cancelled, or the deadline was set.
    #[must_use]
    pub fn by(&self) -> &'static Location<'static> {
        match &self.inner.stop {
            Stop::Cancelled(why) => why.by,
            Stop::TimedOut(deadline) => deadline.by,
        }
    }

    /// Where in the program it was noticed: the call that returned the error.
    ///
    /// A call that goes through code of std's names a line of std's, since that is where ours was called: methods that std's traits provide and no type of
    /// ours has itself, such as [`write_fmt`](io::Write::write_fmt) (by `write!`) and [`read_to_end`](io::Read::read_to_end) of a socket; and all that
    /// [`BufReader`](io::BufReader), [`BufWriter`](io::BufWriter) and the like do. So does one through `dyn Read` or `dyn Write`, which names the line of our method.
    #[must_use]
    pub fn at(&self) -> &'static Location<'static> {
        self.inner.at
    }

    /// The fiber that noticed it; or the thread, if that was a plain one.
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        &self.inner.fiber
    }

    /// The number of that fiber.
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
