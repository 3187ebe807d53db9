//! Keys of the values in contexts.

use std::sync::Arc;

use super::values::Context;
use crate::rt::{self, impl_debug};

/// A key to a value in each context. Two keys never share a value, even if they have the same type.
///
/// ```
/// use sinew::context::Key;
///
/// static USER: Key<String> = Key::new();
/// assert!(USER.get().is_none(), "it is not set");
/// ```
///
/// Several fibers on several threads may use a value at the same time, so it must be `Send` and
/// `Sync`:
///
/// ```compile_fail,E0277
/// use sinew::context::{Context, Key};
///
/// static COUNT: Key<std::cell::Cell<u32>> = Key::new();
/// Context::new().with(&COUNT, std::cell::Cell::new(1));
/// ```
///
/// ```compile_fail,E0277
/// use sinew::context::{Context, Key};
///
/// static SHARED: Key<std::rc::Rc<u32>> = Key::new();
/// Context::new().with(&SHARED, std::rc::Rc::new(1));
/// ```
pub struct Key<T> {
    pub(super) key: rt::LocalsKey<T>,
}

impl<T> Key<T> {
    /// Creates a key, usually for a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self { key: rt::LocalsKey::new() }
    }
}

impl<T: Send + Sync + 'static> Key<T> {
    /// Returns the value in the current context, if it has one.
    #[must_use]
    pub fn get(&self) -> Option<Arc<T>> {
        Context::current().share(self)
    }

    /// Calls `f` with the value in the current context, or with `None` if it has none.
    ///
    /// ```
    /// use sinew::context::{Context, Key};
    ///
    /// static USER: Key<String> = Key::new();
    /// let context = Context::new().with(&USER, "ada".to_owned());
    /// let length = context.run(|| USER.with(|user| user.map(String::len)));
    /// assert_eq!(length, Some(3));
    /// ```
    pub fn with<R>(&self, f: impl FnOnce(Option<&T>) -> R) -> R {
        f(Context::current().get(self))
    }
}

impl<T> Default for Key<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Key<T>, ..);
