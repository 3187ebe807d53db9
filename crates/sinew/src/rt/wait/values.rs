//! Typed values by the numbers of their keys; once made, they stay as they are. Knows nobody who has them.

use std::any::Any;
use std::sync::Arc;

use super::fiber_locals::Key;
use crate::rt::base::{impl_debug, unwind};

/// A value of any type.
type Value = Arc<dyn Any + Send + Sync>;

/// The values. A null word, while there are none.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<All>>);

/// At least one.
struct All(Vec<(u32, Value)>);

impl Drop for All {
    fn drop(&mut self) {
        let mut all = self.0.drain(..);
        unwind::drop_each(|| all.next());
    }
}

impl Values {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn all(&self) -> &[(u32, Value)] {
        self.0.as_deref().map_or(&[], |all| &all.0)
    }

    /// The same, with this value for a key.
    pub(crate) fn with<T: Send + Sync + 'static>(&self, key: &Key<T>, value: T) -> Self {
        let number = key.number().get();
        let others = self.all().iter().filter(|(other, _)| *other != number).cloned();
        let new: (u32, Value) = (number, Arc::new(value));
        Self(Some(Arc::new(All(others.chain([new]).collect()))))
    }

    /// The value of a key. They are few: looking at each is faster than anything else.
    fn find<T>(&self, key: &Key<T>) -> Option<&Value> {
        let number = key.number().get();
        self.all().iter().find(|(other, _)| *other == number).map(|(_, value)| value)
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<&T> {
        self.find(key).and_then(|value| value.downcast_ref())
    }

    /// A value of its own, that stays when these are gone.
    pub(crate) fn share<T: Send + Sync + 'static>(&self, key: &Key<T>) -> Option<Arc<T>> {
        self.find(key).and_then(|value| value.clone().downcast().ok())
    }
}

impl_debug!(Values, |values| { len: values.all().len(), .. });
