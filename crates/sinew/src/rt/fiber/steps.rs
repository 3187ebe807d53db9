//! A body in steps: nothing of it is on a stack between two steps. Knows no fiber.

use std::ops::ControlFlow;

use super::body::{Body, BodyTurn};

/// The state, and the function that makes a step. Boxed, so that moving it to the stack and back
/// for each step moves a pointer.
pub(crate) struct Steps<S, F>(Box<(S, F)>);

impl<S, F> Steps<S, F> {
    pub(crate) fn new(state: S, step: F) -> Self {
        Self(Box::new((state, step)))
    }

    /// Returns the state and the function.
    pub(crate) fn into_parts(self) -> (S, F) {
        *self.0
    }
}

impl<S, F: FnMut(&mut S) -> ControlFlow<T>, T> Body<T> for Steps<S, F> {
    fn turn(mut self) -> BodyTurn<Self, T> {
        let (state, step) = &mut *self.0;
        match step(state) {
            ControlFlow::Continue(()) => BodyTurn::More(self),
            ControlFlow::Break(value) => BodyTurn::Last(value),
        }
    }
}
