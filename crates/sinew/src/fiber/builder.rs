//! Settings for a new fiber.
//!
//! # Safety
//!
//! Passes on promises of its callers about what lives on stacks, and for how long.

use std::io;
use std::panic::Location;

use super::handle::JoinHandle;
use super::spawning;
use crate::rt::{Attributes, Moves, Target};

/// When a new fiber first runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Launch {
    /// When its turn comes. The fiber that spawns it continues.
    #[default]
    Post,
    /// At once, if a fiber spawns it. The spawning fiber continues when the new one first waits,
    /// yields or ends. If the spawning fiber unwinds, is in a panic hook, or must not suspend, this
    /// is the same as `Post`.
    Dispatch,
}

/// Settings for a new fiber, under the names of [`std::thread::Builder`].
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
    /// Returns the settings of [`spawn`](super::spawn), to be changed by the other methods.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the fiber. [`Fiber::name`](super::Fiber::name) returns the name, and messages contain
    /// it. As with threads, it must not contain a NUL (`\0`): [`spawn`](Self::spawn) panics if it
    /// does.
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

    /// Sets the minimum size of the fiber's stack, in bytes. The default is the setting of its
    /// runtime. The smallest stack has 16 KiB, the largest 64 MiB: [`spawn`](Self::spawn) returns
    /// an error for a larger size.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size.max(1));
        self
    }

    /// Makes the fiber begin in this group of its runtime's workers, numbered from 0, instead of
    /// the group of the fiber that spawns it. If all workers of the group are busy, another group
    /// may take the fiber before it has begun, unless it is [`group_local`](Self::group_local).
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let runtime = sinew::Runtime::builder().groups([1, 1]).start()?;
    /// let group = runtime.run(|| {
    ///     let builder = fiber::Builder::new().group(1).group_local(true);
    ///     builder.spawn(fiber::current_group).unwrap().join().unwrap()
    /// });
    /// assert_eq!(group, Some(1));
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    pub fn group(mut self, group: usize) -> Self {
        // `spawn` refuses this number like any other that is too large.
        self.target = Target::Group(u32::try_from(group).unwrap_or(u32::MAX - 1));
        self
    }

    /// Makes the fiber begin in the next group. Groups are used in turn, regardless of their size;
    /// each worker has a turn of its own, and all plain threads share one. As with
    /// [`group`](Self::group), another group may take the fiber before it has begun, unless it is
    /// [`group_local`](Self::group_local).
    pub fn any_group(mut self) -> Self {
        self.target = Target::Any;
        self
    }

    /// Keeps the fiber in the group where it is queued, even if other groups are idle. By default
    /// another group may take it before it has begun, and, if it is [migratable](Self::migratable),
    /// later too. This does not bind its children.
    pub fn group_local(mut self, stays: bool) -> Self {
        self.group_local = stays;
        self
    }

    /// Gives the fiber the deadline that is in force where it is spawned, also if it is not in a
    /// [scope](super::scope).
    ///
    /// By default a fiber has no deadline: many fibers outlive the call that spawned them, and a
    /// fiber that cleans up, for example, must not hurry because the code that spawned it has a
    /// deadline.
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

    /// Sets when the fiber first runs.
    pub fn launch(mut self, launch: Launch) -> Self {
        self.launch = launch;
        self
    }

    /// Lets the fiber migrate: after any suspension it may continue on another worker.
    ///
    /// # Safety
    ///
    /// Whenever the fiber is suspended, all of the following holds, also for code of other crates
    /// that it calls:
    ///
    /// - No value that is not [`Send`] lives on its stack or in its
    ///   [fiber-locals](crate::fiber_local). The guards of std's and parking_lot's locks are such
    ///   values. sinew's own guards are excepted, unless they were given to another fiber by
    ///   [`spawn_local`](super::spawn_local), or are those of a
    ///   [`ReentrantLock`](crate::sync::ReentrantLock). [`pin`](fn@super::pin) keeps the fiber on
    ///   its worker for as long as such a value has to live.
    /// - No reference from a `thread_local!` is live: the fiber is not inside
    ///   [`with`](std::thread::LocalKey::with).
    /// - No function on its stack uses a thread-local both before and after the suspension. The
    ///   compiler may reuse the address that it computed before. A function that is not inlined,
    ///   called before and again after, computes it anew.
    /// - No frame of another language keeps the identity of the thread: its number, the address of
    ///   `errno`, a pointer to its thread-locals, a lock that records its owner.
    /// - The same holds for what is left on the stack of a suspended [coroutine](crate::coroutine)
    ///   that the fiber owns or has passed on, because it moves when the fiber does. In particular,
    ///   a coroutine that is suspended inside [`with`](super::LocalKey::with) of a fiber-local
    ///   holds a reference to a value that this fiber uses on any worker. If the fiber leaves the
    ///   coroutine behind, for example in a `thread_local!`, no code resumes or drops it before the
    ///   fiber has ended.
    #[expect(unsafe_code, reason = "what lives on a stack is the caller's promise")]
    pub unsafe fn migratable(mut self) -> Self {
        self.migrates = true;
        self
    }

    /// Spawns the fiber.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime is being shut down or has reached its limit of fibers, if
    /// there is no stack of that size, or if there is no such group.
    ///
    /// # Panics
    ///
    /// Panics if the [name](Self::name) contains a NUL, as std does. Panics as well if the default
    /// runtime has to be started and cannot be.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawning::spawn_with(self.attributes(Location::caller()), body).map_err(io::Error::from)
    }

    /// Spawns the fiber without a bound on how long the values that it borrows live.
    ///
    /// # Safety
    ///
    /// What the body and its result borrow lives until the fiber has ended and its result is
    /// dropped, for example until [`join`](JoinHandle::join) has returned and its result is
    /// dropped. A fiber that is abandoned at the shutdown of its runtime never ends, although its
    /// join returns an error, [`Abandoned`](super::Abandoned): what it borrows must then live for
    /// ever.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](Self::spawn).
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
    /// Panics if the name contains a NUL.
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

/// Returns the name, if a thread may have it too.
///
/// # Panics
///
/// Panics with the message of std if the name contains a NUL.
#[inline(never)]
#[track_caller]
fn checked(name: String) -> Box<str> {
    assert!(!name.contains('\0'), "thread name may not contain interior null bytes: {name:?}");
    name.into_boxed_str()
}
