//! Typed values by the numbers of their keys, immutable once made. Knows no owner.

use std::any::Any;
use std::sync::Arc;

use super::fiber_locals::LocalsKey;
use crate::rt::base::{impl_debug, unwind};

/// A value of any type.
type AnyValue = Arc<dyn Any + Send + Sync>;

/// A set of values. A null word while it is empty.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<AllValues>>);

/// At least one value.
struct AllValues(Vec<(u32, AnyValue)>);

impl Drop for AllValues {
    fn drop(&mut self) {
        let mut all = self.0.drain(..);
        unwind::drop_each(|| all.next());
    }
}

impl Values {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn all(&self) -> &[(u32, AnyValue)] {
        self.0.as_deref().map_or(&[], |all| &all.0)
    }

    /// Returns the same values, with this one for a key.
    pub(crate) fn with<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>, value: T) -> Self {
        let number = key.number().get();
        let others = self.all().iter().filter(|(other, _)| *other != number).cloned();
        let new: (u32, AnyValue) = (number, Arc::new(value));
        Self(Some(Arc::new(AllValues(others.chain([new]).collect()))))
    }

    /// Returns the value of a key. There are few values, so a linear search is fastest.
    fn find<T>(&self, key: &LocalsKey<T>) -> Option<&AnyValue> {
        let number = key.number().get();
        self.all().iter().find(|(other, _)| *other == number).map(|(_, value)| value)
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>) -> Option<&T> {
        self.find(key).and_then(|value| value.downcast_ref())
    }

    /// Returns a shared pointer to the value of a key, which outlives this set.
    pub(crate) fn share<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>) -> Option<Arc<T>> {
        self.find(key).and_then(|value| value.clone().downcast().ok())
    }
}

impl_debug!(Values, |values| { len: values.all().len(), .. });
