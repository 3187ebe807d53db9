//! A handle to a channel that does not keep it open.

use std::sync::Arc;

use super::sender::Sender;
use super::shared::BroadcastShared;
use crate::rt::{impl_debug, impl_unwind_safe};

/// A handle from which a [`Sender`] can be made as long as another [`Sender`] exists. From
/// [`Sender::downgrade`].
///
/// It does not count as a sender: dropping the last [`Sender`] closes the channel for the
/// receivers, even if there are weak senders.
///
/// ```
/// use sinew::channel::broadcast::{self, RecvError};
///
/// let (sender, mut receiver) = broadcast::channel(4);
/// let weak = sender.downgrade();
/// weak.upgrade().unwrap().send(1).unwrap();
/// drop(sender);
/// assert!(weak.upgrade().is_none());
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Err(RecvError::Closed)));
/// ```
pub struct WeakSender<T> {
    shared: Arc<BroadcastShared<T>>,
}

impl<T> WeakSender<T> {
    pub(super) fn new(shared: Arc<BroadcastShared<T>>) -> Self {
        shared.with(|kept| kept.weak_senders += 1);
        Self { shared }
    }

    /// Makes a sender. Returns `None` if all senders are gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let is_open = self.shared.with(|kept| {
            let is_open = kept.senders > 0;
            kept.senders += usize::from(is_open);
            is_open
        });
        is_open.then(|| Sender::counted(self.shared.clone()))
    }

    /// Returns the number of [`Sender`]s.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.shared.with(|kept| kept.senders)
    }

    /// Returns the number of [`WeakSender`]s.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.shared.with(|kept| kept.weak_senders)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.with(|kept| kept.weak_senders -= 1);
    }
}

impl_debug!(WeakSender<T>, ..);

// No user code runs while it is used.
impl_unwind_safe!(WeakSender<T>);
