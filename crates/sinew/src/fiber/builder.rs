//! How a fiber is to be.
//!
//! # Safety
//!
//! Takes promises of its callers about what lives on stacks and for how long, and hands them on.

use std::io;
use std::panic::Location;

use super::handle::JoinHandle;
use super::spawning;
use crate::rt::{Attributes, Moves, Target};

/// When a new fiber first runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Launch {
    /// When its turn comes; the fiber that makes it goes on.
    #[default]
    Post,
    /// At once, if a fiber makes it: that one goes on when the new one first waits, yields or ends.
    /// Not if the fiber that makes it unwinds, is in a panic hook, or must not suspend: then as
    /// with `Post`.
    Dispatch,
}

/// How a fiber is to be, under the names of [`std::thread::Builder`].
#[must_use = "a fiber is made by `spawn`"]
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
    launch: Launch,
    migrates: bool,
    target: Target,
    group_local: bool,
    inherits_deadline: bool,
}

impl Builder {
    /// As [`spawn`](super::spawn) makes them, unless set otherwise.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the fiber: [`Fiber::name`](super::Fiber::name) returns the name, and messages show it.
    /// As for threads, it must not contain a NUL (`\0`): [`spawn`](Self::spawn) panics if it does.
    ///
    /// ```should_panic
    /// # use sinew::fiber;
    /// # std::panic::set_hook(Box::new(|_| ()));
    /// let _ = fiber::Builder::new().name("half\0name".to_owned()).spawn(|| ());
    /// ```
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// How much stack it has at least, in bytes; what its runtime was set to, unless set. The smallest stack has 16 KiB, the largest 64 MiB:
    /// a fiber that wants more is refused.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size.max(1));
        self
    }

    /// Has it begin in this group of its runtime's workers, numbered from 0, and not in that of whoever makes it. If all are at work
    /// there, another group may take it before it has begun, unless it is [`group_local`](Self::group_local).
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let runtime = sinew::Runtime::builder().groups([1, 1]).start()?;
    /// let group = runtime.run(|| {
    ///     let fiber = fiber::Builder::new().group(1).group_local(true).spawn(fiber::current_group);
    ///     fiber.unwrap().join().unwrap()
    /// });
    /// assert_eq!(group, Some(1));
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    pub fn group(mut self, group: usize) -> Self {
        // A number that large is refused as any that is too large.
        self.target = Target::Group(u32::try_from(group).unwrap_or(u32::MAX - 1));
        self
    }

    /// Has it begin in the next group. Groups are used in turn, whatever their size; each worker
    /// keeps its own turn, and all plain threads share one. As with [`group`](Self::group), another
    /// group may take it before it has begun, unless it is [`group_local`](Self::group_local).
    pub fn any_group(mut self) -> Self {
        self.target = Target::Any;
        self
    }

    /// Keeps it in the group where it is put, even if other groups are idle. Unless set, another group may take it before it has begun,
    /// and, if it is [migratable](Self::migratable), later too. Its children are not bound by it.
    pub fn group_local(mut self, stays: bool) -> Self {
        self.group_local = stays;
        self
    }

    /// Gives it the deadline that is in force where it is made, whether or not it is in a [scope](super::scope).
    ///
    /// Unless asked for, a fiber has none: many outlive the call that made them, and one that was made to clean up, say, is not to hurry
    /// because its maker has to.
    ///
    /// ```
    /// use sinew::fiber;
    /// use std::time::{Duration, Instant};
    ///
    /// let soon = Instant::now() + Duration::from_secs(1);
    /// let (with, without) = fiber::with_deadline(soon, || {
    ///     let with = fiber::Builder::new().inherit_deadline().spawn(fiber::deadline).unwrap();
    ///     (with.join().unwrap(), fiber::spawn(fiber::deadline).join().unwrap())
    /// });
    /// assert_eq!((with, without), (Some(soon), None));
    /// ```
    pub fn inherit_deadline(mut self) -> Self {
        self.inherits_deadline = true;
        self
    }

    /// When it first runs.
    pub fn launch(mut self, launch: Launch) -> Self {
        self.launch = launch;
        self
    }

    /// Lets it go on at another worker after any suspension.
    ///
    /// # Safety
    ///
    /// Whenever it is suspended, all of this holds, for the code of others that it calls too:
    ///
    /// - Nothing that is not [`Send`] lives on its stack or in its [fiber-locals](crate::fiber_local). The guards of std's and
    ///   parking_lot's locks are such values; sinew's own are excepted, unless they were given to another fiber by
    ///   [`spawn_local`](super::spawn_local), or are those of a [`ReentrantLock`](crate::sync::ReentrantLock). [`pin`](fn@super::pin) holds the fiber in place for as long as
    ///   such a value has to live.
    /// - No reference from a `thread_local!` is live: not inside [`with`](std::thread::LocalKey::with).
    /// - No function on its stack uses a thread-local both before and after the suspension. The compiler may keep the address
    ///   from before; a function that is not inlined, called on either side, does not.
    /// - No frame of another language keeps the identity of the thread: its number, `errno`'s address, a pointer to its
    ///   thread-locals, a lock that knows its owner.
    /// - What is left behind on the stack of a [coroutine](crate::coroutine), which the fiber holds or has left to others, keeps to
    ///   the same: it moves when the fiber does. In particular, one that is suspended inside
    ///   [`with`](super::LocalKey::with) of a fiber-local holds a reference to a value that this fiber uses wherever it goes. If it
    ///   is left behind, in a `thread_local!` say, nobody resumes or drops it before the fiber has ended.
    #[expect(unsafe_code, reason = "what lives on a stack is the caller's promise")]
    pub unsafe fn migratable(mut self) -> Self {
        self.migrates = true;
        self
    }

    /// Makes the fiber.
    ///
    /// # Errors
    ///
    /// If the runtime is being shut down or has as many fibers as it may, if there is no stack of that size, or if there is no such group.
    ///
    /// # Panics
    ///
    /// If the [name](Self::name) contains a NUL, as std's does.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawning::spawn_with(self.attributes(Location::caller()), body).map_err(io::Error::from)
    }

    /// Makes the fiber without asking how long what it borrows lives.
    ///
    /// # Safety
    ///
    /// What the body and its result borrow lives until the fiber has ended and its result is dropped: by a
    /// [`join`](JoinHandle::join) that has returned, say. A fiber that is abandoned at the shutdown of its runtime never ends,
    /// though its join returns an error, [`Abandoned`](super::Abandoned): what it borrows lives for ever then.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[expect(unsafe_code, reason = "how long things live is the caller's promise")]
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller's promise.
        let made = unsafe { spawning::spawn_unchecked(self.attributes(Location::caller()), body) };
        made.map_err(io::Error::from)
    }

    /// # Panics
    ///
    /// If the name contains a NUL.
    #[inline]
    #[track_caller]
    pub(crate) fn attributes(self, location: &'static Location<'static>) -> Attributes {
        Attributes {
            name: self.name.map(checked),
            stack_size: self.stack_size,
            moves: if self.migrates { Moves::Always } else { Moves::UntilItRuns },
            at_once: self.launch == Launch::Dispatch,
            target: self.target,
            group_local: self.group_local,
            inherits_deadline: self.inherits_deadline,
            ..Attributes::new(location)
        }
    }
}

/// A name that threads may have too.
///
/// # Panics
///
/// With the message of std, if it contains a NUL.
#[inline(never)]
#[track_caller]
fn checked(name: String) -> Box<str> {
    assert!(!name.contains('\0'), "thread name may not contain interior null bytes: {name:?}");
    name.into_boxed_str()
}
