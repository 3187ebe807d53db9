//! The trait of a store of messages. It knows neither counts nor locks: the channel that uses it
//! does.
//!
//! # Safety
//!
//! Trusted with nothing: it says what is promised on either side.
#![expect(unsafe_code, reason = "the number of messages is known elsewhere")]

/// A queue without a count: its users know how many messages are in it.
///
/// # Safety
///
/// Each message that was put is taken out once, in order, if the contracts of the functions are
/// kept.
pub(super) unsafe trait Store<T> {
    /// The position of the next message to put, used by one sender at a time.
    type In;
    /// The position of the next message to take, used by one receiver at a time.
    type Out;
    /// Memory that `put` may lack and `take` may leave over. It is allocated and dropped while no
    /// lock is held.
    type Spare;

    /// Returns both positions of an empty store.
    fn ends() -> (Self::In, Self::Out);

    /// Returns whether there is a slot for one more message, taking memory from `spare` if needed.
    /// If not, the caller has to get [`more`](Self::more).
    fn has_place(&self, end: &mut Self::In, spare: &mut Option<Self::Spare>) -> bool;

    /// Allocates memory for more messages.
    fn more(&self) -> Self::Spare;

    /// Puts a message behind all others.
    ///
    /// # Safety
    ///
    /// The position belongs to this store, and there is a slot: `has_place` has just returned true.
    /// A slot from which a message was taken may be used again by a caller that has observed the
    /// take.
    unsafe fn put(&self, end: &mut Self::In, message: T);

    /// Takes the first message out. Also returns the memory that is left over by that.
    ///
    /// # Safety
    ///
    /// The position belongs to this store, and there is a message: the caller has observed that it
    /// was put.
    unsafe fn take(&self, end: &mut Self::Out) -> (T, Option<Self::Spare>);

    /// Keeps left-over memory for later use, or drops it.
    fn keep(&self, spare: Self::Spare);

    /// Frees all memory.
    ///
    /// # Safety
    ///
    /// The positions belong to this store, all messages were taken, and nothing else is called
    /// after this.
    unsafe fn end(&mut self, input: Self::In, output: Self::Out);
}
