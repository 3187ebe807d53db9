//! Tokens: what cancels code in any fiber or thread that has entered it.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::rt::{self, Node, What, Why, impl_debug};

/// Cancels the code that was entered with [`run`](Self::run), and all [children](Self::child). Clones are the same token.
///
/// ```
/// use sinew::fiber::{self, CancelToken};
///
/// let token = CancelToken::new();
/// let child = token.child();
/// let fiber = fiber::spawn(move || child.run(fiber::park_cancellable));
/// token.cancel_with_reason("closing time");
/// assert_eq!(fiber.join().unwrap().unwrap_err().reason(), Some("closing time"));
/// ```
///
/// A token that is dropped cancels nothing. A child keeps its parent, not the other way round.
#[derive(Clone)]
pub struct CancelToken {
    node: Arc<Node>,
}

impl CancelToken {
    /// A token with no parent.
    #[must_use]
    pub fn new() -> Self {
        Self { node: Node::root() }
    }

    pub(super) fn of(node: Arc<Node>) -> Self {
        Self { node }
    }

    /// A token that is cancelled with this one, and can be cancelled alone. If this one is cancelled already, so is the child.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { node: Node::below([self.node.clone()]) }
    }

    /// Cancels this token and its children, of any depth. If it is cancelled already, this does nothing. It does not wait: whoever is
    /// cancelled notices at its next [`checkpoint`](super::checkpoint), or in a wait that observes cancellation.
    #[track_caller]
    pub fn cancel(&self) {
        self.cancel_by(Location::caller(), None);
    }

    /// The same, with a reason, which is in the [error](super::Stopped::reason).
    #[track_caller]
    pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
        self.cancel_by(Location::caller(), Some(reason.into()));
    }

    fn cancel_by(&self, by: &'static Location<'static>, reason: Option<Cow<'static, str>>) {
        self.node.cancel(&Arc::new(Why { what: What::Token, by, reason }));
    }

    /// Whether it was cancelled, itself or with a parent.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Runs `body` with this token in force: cancelling it cancels the body. Tokens around it count too, unless the body is
    /// [shielded](super::shield) from them; so do fibers' own cancels. A [scope](super::scope) that is opened inside is cancelled with it,
    /// fibers that are in no such scope are not.
    ///
    /// # Panics
    ///
    /// If the body does.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        rt::region(|force| force.join(&self.node), body)
    }

    /// Waits until the token is cancelled. Nothing else ends the wait, not even that the caller is cancelled.
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

    /// Waits until the token is cancelled, for at most so long. Whether it is.
    pub fn wait_timeout(&self, time: Duration) -> bool {
        // A moment beyond the clock's end never comes.
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

    /// Whoever has waited inside is gone from the token's list when it leaves.
    #[test]
    fn nobody_is_left_enrolled() {
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
        // The fiber is on its way out still when the scope ends.
        let patience = Instant::now() + Duration::from_secs(60);
        while token.node.counts() != (0, 0) {
            assert!(Instant::now() < patience, "the scope is kept");
            thread::yield_now();
        }
    }
}
