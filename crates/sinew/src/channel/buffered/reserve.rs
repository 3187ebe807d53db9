//! Places that are kept for messages which are yet to be made: those of a `select`, where a message is made when it is clear that it will be sent.
//!
//! Such a place counts as filled for whoever looks for room. When the message is there, it is brought as any other, behind all that were sent
//! meanwhile.
//!
//! # Safety
//!
//! As the file above.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use super::{Buffered, Claimed, Ordering, Store};

impl<T, S: Store<T>> Buffered<T, S> {
    /// Keeps a place for a message that is yet to be made. False, if there is none.
    ///
    /// # Errors
    ///
    /// If nobody is left to receive it.
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

    /// Fills the place that was kept, or gives it up if there is no message.
    ///
    /// # Errors
    ///
    /// If nobody is left to receive it.
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
            // SAFETY: a place was kept, and the other one is there.
            let handed = unsafe { self.bring(&mut entrance, &mut message) };
            let is_free = !is_used || handed.is_some();
            if is_free {
                self.count_given_up();
            }
            // Release: pairs with the acquire of `filled`: by then it is filled.
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

    /// A place has become free that nobody has taken from: lets those in who wait for room. Whoever came to wait for it has had the lock of the
    /// exit after it was free, and seen that, or before, and is found.
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
