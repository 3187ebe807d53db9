//! Slots that are reserved for messages which are not produced yet. A `select` produces its message
//! when it is certain that the message will be sent. A reserved slot counts as filled for senders.
//! When the message is there, it is sent like any other, behind all messages that were sent in the
//! meantime.
//!
//! # Safety
//!
//! The same as the parent module.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use super::{Buffered, Claimed, Ordering, Store};

impl<T, S: Store<T>> Buffered<T, S> {
    /// Reserves a slot for a message that is not produced yet. Returns `false` if there is no room.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone.
    pub(in crate::channel) fn reserve(&self) -> Result<bool, ()> {
        let mut entrance = self.entrance.queue.lock();
        if self.entrance.is_closed.load(Ordering::Relaxed) {
            return Err(());
        }
        let has_room = self.has_room(&mut entrance);
        // Relaxed: as in `let_in`.
        self.entrance.reserved.fetch_add(usize::from(has_room), Ordering::Relaxed);
        Ok(has_room)
    }

    /// Sends the message for which a slot was reserved, or gives the slot up if there is no
    /// message.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone.
    pub(in crate::channel) fn send_reserved(&self, message: Option<T>) -> Result<(), T> {
        let (mut made, mut message) = (None, message);
        loop {
            let mut entrance = self.entrance.queue.lock();
            if !self.store.has_place(&mut entrance.end, &mut made) {
                drop(entrance);
                made = Some(self.store.more());
                continue;
            }
            let refused = if self.entrance.is_closed.load(Ordering::Relaxed) { message.take() } else { None };
            let is_used = message.is_some();
            // SAFETY: there is room, since a slot was reserved, and `has_place` has returned true.
            let handed = unsafe { self.bring(&mut entrance, &mut message) };
            let is_free = !is_used || handed.is_some();
            if is_free {
                self.count_given_up();
            }
            // Release: pairs with the acquire of `filled`, so that the slot is filled by then.
            self.entrance.reserved.fetch_sub(1, Ordering::Release);
            drop(entrance);
            handed.into_iter().for_each(Claimed::go);
            made.into_iter().for_each(|spare| self.store.keep(spare));
            if is_free {
                self.settle();
            }
            self.watchers.tell();
            return refused.map_or(Ok(()), Err);
        }
    }

    /// Lets in senders that wait for room, after a slot has become free without a receiver. No
    /// sender is missed: a sender that enters the queue later has locked the exit after the slot
    /// became free, and sees that; a sender that has entered it before is found here.
    #[cold]
    fn settle(&self) {
        let mut made = None;
        loop {
            let (mut exit, mut entrance) = (self.exit.queue.lock(), self.entrance.queue.lock());
            if exit.is_empty() || !self.has_room(&mut entrance) {
                drop((entrance, exit));
                break;
            }
            if !self.store.has_place(&mut entrance.end, &mut made) {
                drop((entrance, exit));
                made = Some(self.store.more());
                continue;
            }
            let claimed = self.let_in(&mut exit, &mut entrance);
            drop((entrance, exit));
            claimed.into_iter().flatten().for_each(Claimed::go);
        }
        made.into_iter().for_each(|spare| self.store.keep(spare));
    }
}
