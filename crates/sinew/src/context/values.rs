//! Contexts: values that stay as they are, and the one that is current.

use std::sync::Arc;

use super::key::Key;
use crate::rt::{self, Values};

/// Values by [keys](Key), which do not change: a context with one more is another one. Cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct Context {
    values: Values,
}

impl Context {
    /// One without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The one that is current here, to be kept, or to be entered elsewhere.
    #[must_use]
    pub fn current() -> Self {
        Self { values: rt::current_values() }
    }

    /// The same with this value too, instead of the one that the key had.
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

    /// The value of a key, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<&T> {
        self.values.get(&key.key)
    }

    pub(super) fn share<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<Arc<T>> {
        self.values.share(&key.key)
    }

    /// Runs `body` inside this context: it is current there, instead of the one that is now.
    ///
    /// A [coroutine](crate::coroutine) that is suspended inside the body does not take the context along.
    ///
    /// # Panics
    ///
    /// If the body does.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let values = self.values.clone();
        rt::region(|force| force.values = values, body)
    }
}
