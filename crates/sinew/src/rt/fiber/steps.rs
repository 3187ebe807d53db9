//! A body in steps: between two of them nothing of it is on a stack. Knows no fiber.

use std::ops::ControlFlow;

use super::body::{Body, BodyTurn};

/// State, and what makes a step of it. In a box, so that moving it to the stack and back for each step is moving a pointer.
pub(crate) struct Steps<S, F>(Box<(S, F)>);

impl<S, F> Steps<S, F> {
    pub(crate) fn new(state: S, step: F) -> Self {
        Self(Box::new((state, step)))
    }

    /// State and step.
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
