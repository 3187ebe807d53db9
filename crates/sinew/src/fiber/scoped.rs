//! Scopes: fibers that borrow from the code that waits for them.
//!
//! # Safety
//!
//! Trusted with the lifetimes: a scope does not end before its fibers have ended.
#![expect(unsafe_code, reason = "a fiber that borrows is made from a scope that waits for it")]

use std::borrow::Cow;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::builder::Builder;
use super::error::SpawnError;
use super::scoped_handle::ScopedJoinHandle;
use super::token::CancelToken;
use crate::launch;
use crate::rt::{self, Attributes, FiberHost, Node, ScopeData, ScopeFailure, Site};

/// A scope to spawn fibers in, the counterpart of [`std::thread::Scope`]. Created by [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    data: Arc<ScopeData>,
    /// The host of its fibers, or `None` if each fiber belongs to the runtime of the code that
    /// spawns it.
    host: Option<Arc<FiberHost>>,
    /// Invariant in `'scope`, so that a scope cannot be used as one with a shorter lifetime.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Runs `body`, which may spawn fibers that borrow values from outside the scope. Returns when the
/// body and all of its fibers have ended.
///
/// ```
/// let mut numbers = [1, 2, 3];
/// sinew::fiber::scope(|scope| {
///     for number in &mut numbers {
///         scope.spawn(|| *number *= 2);
///     }
/// });
/// assert_eq!(numbers, [2, 4, 6]);
/// ```
///
/// The fibers are in the runtime of the calling fiber, or in the default runtime if the caller is a
/// plain thread. [`Handle::scope`](crate::runtime::Handle::scope) uses another runtime.
///
/// The fibers cannot borrow values that live inside the body, because they may run longer than the
/// body:
///
/// ```compile_fail,E0373
/// sinew::fiber::scope(|scope| {
///     let inside = 1;
///     scope.spawn(|| assert_eq!(inside, 1));
/// });
/// ```
///
/// ```compile_fail,E0597
/// sinew::fiber::scope(|scope| {
///     let inside = 1;
///     let inside = &inside;
///     scope.spawn(move || assert_eq!(*inside, 1));
/// });
/// ```
///
/// Two fibers cannot borrow the same value mutably:
///
/// ```compile_fail,E0499
/// let mut number = 1;
/// sinew::fiber::scope(|scope| {
///     scope.spawn(|| number += 1);
///     scope.spawn(|| number += 1);
/// });
/// ```
///
/// What several threads may not share cannot be borrowed either:
///
/// ```compile_fail,E0277
/// let cell = std::cell::Cell::new(1);
/// sinew::fiber::scope(|scope| {
///     scope.spawn(|| cell.set(2));
/// });
/// ```
///
/// The fibers stop with the code that opened the scope. They inherit the
/// [deadline](super::with_deadline) in force there, unless [`Scope::ignore_deadline`] is called.
/// They are cancelled with the fiber that called `scope`, and with the tokens that it has entered.
///
/// If the body panics, the fibers are [cancelled](Scope::cancel) before this waits for them, since
/// their results are lost. std's scopes only wait. [`try_scope`](super::try_scope) does the same if
/// the body returns an error.
///
/// # Panics
///
/// Panics with the body's panic if the body panics. Otherwise panics if a fiber panicked that was
/// not joined. Inside [`no_suspend`](super::no_suspend) it panics before it calls the body.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    open(None, ScopeFailure::IsItsOwn, Location::caller(), body, |_| false)
}

/// Opens a scope, runs its body, and waits for its fibers. They are cancelled if the body panics,
/// or if `has_failed` returns true for its result. They are in the given host, or in the runtime of
/// the fiber that spawns them.
#[track_caller]
pub(crate) fn open<'env, F, T>(
    host: Option<&Arc<FiberHost>>,
    failure: ScopeFailure,
    at: &'static Location<'static>,
    body: F,
    has_failed: impl FnOnce(&T) -> bool,
) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    // Checked first: once the scope has fibers, it has to wait.
    rt::check_may_wait();
    let data = ScopeData::open(at, failure);
    let scope = Scope { data, host: host.cloned(), scope: PhantomData, env: PhantomData };
    // Caught, because a fiber that unwinds blocks its worker when it waits.
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    match &result {
        Err(_) => scope.data.cancel_rest("the body of the scope panicked"),
        Ok(value) if has_failed(value) => scope.data.cancel_rest("the body of the scope returned an error"),
        Ok(_) => {}
    }
    scope.data.wait();
    scope.data.close();
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(value) if scope.data.has_panicked() => {
            // Dropped before the panic below: if its destructor panicked while that one unwinds,
            // the process would abort.
            rt::catch_panic(|| drop(value));
            panic!("a scoped fiber panicked")
        }
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a fiber in the scope. [`Builder::spawn_scoped`] spawns one with other settings, and
    /// returns an error instead of panicking.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](super::spawn).
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.spawn_with(Builder::new().attributes(Location::caller()), body) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Spawns a fiber in the scope for each body, as [`spawn_batch`](super::spawn_batch) does, and
    /// returns their handles in the same order.
    ///
    /// ```
    /// let words = ["a", "scope", "of", "fibers"];
    /// let lengths: Vec<usize> = sinew::fiber::scope(|scope| {
    ///     let fibers = scope.spawn_batch(words.iter().map(|word| || word.len()));
    ///     fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect()
    /// });
    /// assert_eq!(lengths, [1, 5, 2, 6]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn_batch`](super::spawn_batch).
    #[track_caller]
    pub fn spawn_batch<I, F, T>(&'scope self, bodies: I) -> Vec<ScopedJoinHandle<'scope, T>>
    where
        I: IntoIterator<Item = F>,
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let at = Location::caller();
        // Cloned, because the iterator is the caller's code: it may wait, and continue on another
        // worker.
        let host = self.site().host().clone();
        let attributes = || {
            self.data.join_in();
            Attributes { scope: Some(self.data.clone()), ..Builder::new().attributes(at) }
        };
        // SAFETY: as for a single fiber, see `spawn_with`. The bodies that are discarded leave the
        // scope.
        match unsafe { rt::spawn_batch(&host, attributes, bodies.into_iter()) } {
            Ok(handles) => handles.into_iter().map(ScopedJoinHandle::new).collect(),
            Err(refused) => {
                self.data.leave();
                panic!("{}", SpawnError::new(refused))
            }
        }
    }

    /// Cancels all fibers of the scope, including those that are spawned later. The scope still
    /// waits for them. Its body continues, except the body of a [`try_scope`](super::try_scope),
    /// which is cancelled too.
    ///
    /// Fibers of the scope may call this too, for example when one has found an answer and the
    /// others are no longer needed.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// fiber::scope(|scope| {
    ///     let fiber = scope.spawn(fiber::park_cancellable);
    ///     scope.cancel();
    ///     assert!(fiber.join().unwrap().is_err());
    /// });
    /// ```
    #[track_caller]
    pub fn cancel(&self) {
        self.data.cancel(Location::caller(), None);
    }

    /// Cancels all fibers of the scope, as [`cancel`](Self::cancel) does, with a reason. The
    /// [error](super::Stopped::reason) contains it.
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.data.cancel(Location::caller(), Some(reason.into()));
    }

    /// Returns a token that cancels the fibers of the scope, for code that cannot borrow the scope.
    /// The token may outlive the scope.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// fiber::scope(|scope| {
    ///     let token = scope.token();
    ///     fiber::spawn(move || token.cancel_with_reason("enough"));
    ///     let stopped = scope.spawn(fiber::park_cancellable).join().unwrap().unwrap_err();
    ///     assert_eq!(stopped.reason(), Some("enough"));
    /// });
    /// ```
    #[must_use]
    pub fn token(&self) -> CancelToken {
        CancelToken::of(self.node())
    }

    /// Makes fibers that are spawned in the scope from now on ignore the
    /// [deadline](super::with_deadline) in force where the scope was opened. Otherwise they inherit
    /// it. Cancellation still reaches them.
    ///
    /// ```
    /// use sinew::{fiber, time};
    /// use std::time::Duration;
    ///
    /// time::timeout(Duration::from_millis(1), || {
    ///     fiber::scope(|scope| {
    ///         // Would wait for an hour without the deadline of the scope.
    ///         scope.spawn(|| fiber::sleep_cancellable(Duration::from_secs(3_600)).unwrap_err());
    ///
    ///         scope.ignore_deadline();
    ///         scope.spawn(|| fiber::sleep_cancellable(Duration::from_millis(2)).unwrap());
    ///     });
    /// });
    /// ```
    pub fn ignore_deadline(&self) {
        self.data.ignore_deadline();
    }

    /// Returns where the caller spawns a fiber of the scope.
    #[track_caller]
    fn site(&self) -> Site<'_> {
        match &self.host {
            Some(host) => Site::of(host),
            None => launch::site(),
        }
    }

    pub(super) fn node(&self) -> Arc<Node> {
        self.data.node()
    }

    #[track_caller]
    fn spawn_with<F, T>(
        &'scope self,
        attributes: Attributes,
        body: F,
    ) -> std::result::Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let attributes = Attributes { scope: Some(self.data.clone()), ..attributes };
        // Before `join_in`: if the default runtime does not start, no fiber has joined the scope.
        let site = self.site();
        self.data.join_in();
        // SAFETY: body and result are `Send`, and what they borrow lives until the scope has ended,
        // which waits for the fiber. The handle cannot leave the scope.
        let made = unsafe { rt::spawn(site, attributes, body) };
        match made {
            Ok(handle) => Ok(ScopedJoinHandle::new(handle)),
            Err(refused) => {
                self.data.leave();
                Err(SpawnError::new(refused))
            }
        }
    }
}

impl Builder {
    /// Spawns the fiber in a scope, so that it may borrow values that outlive the scope.
    ///
    /// ```
    /// use sinew::fiber;
    ///
    /// let text = String::from("borrowed");
    /// let length = fiber::scope(|scope| {
    ///     let builder = fiber::Builder::new().name("measure".to_owned());
    ///     let measured = builder.spawn_scoped(scope, || text.len())?.join();
    ///     measured.map_err(|_| std::io::Error::other("it panicked"))
    /// });
    /// assert_eq!(length?, 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        body: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_with(self.attributes(Location::caller()), body).map_err(io::Error::from)
    }
}
