//! What a fiber does: a function that is called once, or one step of many. Knows no fiber.

/// What a turn of a body came to.
pub(crate) enum BodyTurn<B, T> {
    /// This is the result.
    Last(T),
    /// This is left to do, on whatever worker.
    More(B),
}

/// What a fiber does with a result of type `T`. It is moved to the stack for each turn, so that nothing on that stack refers to
/// the fiber's block.
pub(crate) trait Body<T>: Sized {
    /// Does it, or a part of it.
    fn turn(self) -> BodyTurn<Self, T>;
}

impl<F: FnOnce() -> T, T> Body<T> for F {
    #[inline]
    fn turn(self) -> BodyTurn<Self, T> {
        BodyTurn::Last(self())
    }
}
