//! Where a channel keeps messages: what such a place must provide. It knows neither counts nor locks: whoever uses it does.
//!
//! # Safety
//!
//! Trusted with nothing: it says what is promised on either side.
#![expect(unsafe_code, reason = "what is there is known elsewhere")]

/// A queue without a count: whoever puts messages in, and whoever takes them out, knows how many there are.
///
/// # Safety
///
/// What was put comes out again, in order, each once, if the contracts of the functions are kept.
pub(super) unsafe trait Store<T> {
    /// Where the next message goes: for whoever puts, one at a time.
    type In;
    /// Where the next message is: for whoever takes, one at a time.
    type Out;
    /// What there may be too little of, and what is left over: made and dropped where no lock is held.
    type Spare;

    /// Both ends, of an empty one.
    fn ends() -> (Self::In, Self::Out);

    /// Whether there is a place for one more. If not, more is needed.
    fn has_place(&self, end: &mut Self::In, spare: &mut Option<Self::Spare>) -> bool;

    /// Makes more.
    fn more(&self) -> Self::Spare;

    /// Puts a message behind all others.
    ///
    /// # Safety
    ///
    /// The end is that of this store, and there is a place: `has_place` has just said so. A place that was taken from is there again
    /// for whoever has seen that it was.
    unsafe fn put(&self, end: &mut Self::In, message: T);

    /// Takes the first message out, and what is left over by that.
    ///
    /// # Safety
    ///
    /// The end is that of this store, and there is a message: whoever calls this has seen that it was put.
    unsafe fn take(&self, end: &mut Self::Out) -> (T, Option<Self::Spare>);

    /// What was left over may be used again, or is dropped.
    fn keep(&self, spare: Self::Spare);

    /// Gives up all memory.
    ///
    /// # Safety
    ///
    /// The ends are those of this store, all messages were taken, and nothing else is called after this.
    unsafe fn end(&mut self, input: Self::In, output: Self::Out);
}
