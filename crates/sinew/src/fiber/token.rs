//! Tokens, which cancel code in all fibers and threads that have entered them.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::rt::{self, Node, What, Why, impl_debug};

/// A token that cancels the code that runs [inside](Self::run) it, and all of its
/// [children](Self::child). Clones are the same token.
///
/// ```
/// use sinew::fiber::{self, CancelToken};
///
/// let token = CancelToken::new();
/// let child = token.child();
/// let fiber = fiber::spawn(move || child.run(fiber::park_cancellable));
/// token.cancel_with_reason("the server shuts down");
/// let stopped = fiber.join().unwrap().unwrap_err();
/// assert_eq!(stopped.reason(), Some("the server shuts down"));
/// ```
///
/// Dropping a token cancels nothing. A child keeps its parent alive, but a parent does not keep its
/// children alive.
#[derive(Clone)]
pub struct CancelToken {
    node: Arc<Node>,
}

impl CancelToken {
    /// Creates a token without a parent.
    #[must_use]
    pub fn new() -> Self {
        Self { node: Node::root() }
    }

    pub(super) fn of(node: Arc<Node>) -> Self {
        Self { node }
    }

    /// Creates a token that is cancelled with this one, and can also be cancelled alone. If this
    /// one is already cancelled, so is the child.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { node: Node::below([self.node.clone()]) }
    }

    /// Cancels this token and all of its descendants. Does nothing if it is already cancelled. This
    /// does not wait: the cancelled code notices at its next [`checkpoint`](super::checkpoint), or
    /// in a wait that observes cancellation.
    #[track_caller]
    pub fn cancel(&self) {
        self.cancel_by(Location::caller(), None);
    }

    /// Cancels this token as [`cancel`](Self::cancel) does, with a reason. The
    /// [error](super::Stopped::reason) contains it.
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.cancel_by(Location::caller(), Some(reason.into()));
    }

    fn cancel_by(&self, by: &'static Location<'static>, reason: Option<Cow<'static, str>>) {
        self.node.cancel(&Arc::new(Why { what: What::Token, by, reason }));
    }

    /// Returns whether the token was cancelled, itself or with an ancestor.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Runs `body` inside this token: cancelling the token cancels the body. Tokens that the caller
    /// has entered count too, unless the body is [shielded](super::shield) from them; so does a
    /// cancel of the calling fiber. A [scope](super::scope) that is opened inside is cancelled with
    /// the token. Other fibers that are spawned inside are not.
    ///
    /// # Panics
    ///
    /// Panics if the body panics.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        rt::region(|force| force.join(&self.node), body)
    }

    /// Waits until the token is cancelled. No other event ends the wait, not even a cancel of the
    /// caller.
    ///
    /// ```
    /// let token = sinew::fiber::CancelToken::new();
    /// let other = token.clone();
    /// let fiber = sinew::fiber::spawn(move || other.wait());
    /// token.cancel();
    /// fiber.join().unwrap();
    /// ```
    pub fn wait(&self) {
        rt::wait_for_cancel(&self.node, None);
    }

    /// Waits until the token is cancelled, but for at most `time`. Returns whether it is cancelled.
    pub fn wait_timeout(&self, time: Duration) -> bool {
        // A time that overflows the clock never comes.
        rt::wait_for_cancel(&self.node, rt::now().checked_add(time))
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(CancelToken, |token| { is_cancelled: token.is_cancelled(), .. });

#[cfg(test)]
mod tests {
    use super::CancelToken;
    use crate::fiber;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Code that has waited inside the token is no longer in the token's list after it has left.
    #[test]
    fn no_fiber_stays_enrolled_after_it_leaves() {
        const SOON: Duration = Duration::from_micros(50);
        let token = CancelToken::new();
        let visit = |token: CancelToken| {
            token.run(|| {
                fiber::sleep_cancellable(SOON).unwrap();
                fiber::park_timeout_cancellable(SOON).unwrap();
                assert_eq!(token.node.counts().1, 1, "once, however often it waits");
                fiber::shield(|| fiber::sleep_cancellable(SOON)).unwrap();
            });
            assert!(!token.wait_timeout(SOON));
            assert_eq!(token.node.counts(), (0, 0));
        };
        let (one, two) = (token.clone(), token.clone());
        fiber::spawn(move || visit(one)).join().unwrap();
        thread::spawn(move || visit(two)).join().unwrap();
        fiber::scope(|scope| {
            let scoped = scope.spawn(|| token.run(|| fiber::sleep_cancellable(SOON)));
            scoped.join().unwrap().unwrap();
        });
        assert_eq!(token.node.counts(), (0, 0));
    }

    #[test]
    fn a_scope_inside_is_below_the_token_until_it_has_ended() {
        let token = CancelToken::new();
        token.run(|| {
            fiber::scope(|scope| {
                scope.spawn(|| fiber::checkpoint().unwrap()).join().unwrap();
                assert_eq!(token.node.counts().0, 1);
            });
        });
        // The fiber may still be ending when the scope ends.
        let patience = Instant::now() + Duration::from_secs(60);
        while token.node.counts() != (0, 0) {
            assert!(Instant::now() < patience, "the scope is kept");
            thread::yield_now();
        }
    }
}
