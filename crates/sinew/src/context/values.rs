//! Contexts, whose values do not change, and the current context.

use std::sync::Arc;

use super::key::Key;
use crate::rt::{self, Values};

/// An immutable map from [keys](Key) to values. Adding a value creates another context. Cloning is
/// cheap.
#[derive(Clone, Debug, Default)]
pub struct Context {
    values: Values,
}

impl Context {
    /// Creates a context without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the current context, for example to enter it in another fiber or thread.
    #[must_use]
    pub fn current() -> Self {
        Self { values: rt::current_values() }
    }

    /// Returns a copy of this context in which `key` has this value.
    ///
    /// ```
    /// use sinew::context::{Context, Key};
    ///
    /// static COLOUR: Key<&str> = Key::new();
    ///
    /// let red = Context::new().with(&COLOUR, "red");
    /// let blue = red.with(&COLOUR, "blue");
    /// assert_eq!((red.get(&COLOUR), blue.get(&COLOUR)), (Some(&"red"), Some(&"blue")));
    /// ```
    #[must_use = "the context that it is called on does not change"]
    pub fn with<T: Send + Sync + 'static>(&self, key: &Key<T>, value: T) -> Self {
        Self { values: self.values.with(&key.key, value) }
    }

    /// Returns the value of a key, if it has one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<&T> {
        self.values.get(&key.key)
    }

    pub(super) fn share<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<Arc<T>> {
        self.values.share(&key.key)
    }

    /// Runs `body` inside this context: it is the current one there, in place of the caller's.
    ///
    /// A [coroutine](crate::coroutine) that is suspended inside the body does not keep the context.
    ///
    /// # Panics
    ///
    /// Panics if the body panics.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let values = self.values.clone();
        rt::region(|force| force.values = values, body)
    }
}
