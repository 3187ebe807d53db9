//! The body of a fiber: a function that is called once, or a sequence of steps. Knows no fiber.

/// The result of one turn of a body.
pub(crate) enum BodyTurn<B, T> {
    /// The body is done, with this result.
    Last(T),
    /// The rest of the body, which any worker may run.
    More(B),
}

/// The body of a fiber with a result of type `T`. It is moved to the stack for each turn, so that
/// nothing on that stack refers to the fiber's block.
pub(crate) trait Body<T>: Sized {
    /// Runs the body, or a part of it.
    fn turn(self) -> BodyTurn<Self, T>;
}

impl<F: FnOnce() -> T, T> Body<T> for F {
    #[inline]
    fn turn(self) -> BodyTurn<Self, T> {
        BodyTurn::Last(self())
    }
}
