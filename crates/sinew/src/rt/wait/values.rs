//! Typed values by the numbers of their keys; once made, they stay as they are. Knows nobody who has them.

use std::any::Any;
use std::sync::Arc;

use super::fiber_locals::LocalsKey;
use crate::rt::base::{impl_debug, unwind};

/// A value of any type.
type AnyValue = Arc<dyn Any + Send + Sync>;

/// The values. A null word, while there are none.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<AllValues>>);

/// At least one.
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

    /// The same, with this value for a key.
    pub(crate) fn with<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>, value: T) -> Self {
        let number = key.number().get();
        let others = self.all().iter().filter(|(other, _)| *other != number).cloned();
        let new: (u32, AnyValue) = (number, Arc::new(value));
        Self(Some(Arc::new(AllValues(others.chain([new]).collect()))))
    }

    /// The value of a key. They are few: looking at each is faster than anything else.
    fn find<T>(&self, key: &LocalsKey<T>) -> Option<&AnyValue> {
        let number = key.number().get();
        self.all().iter().find(|(other, _)| *other == number).map(|(_, value)| value)
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>) -> Option<&T> {
        self.find(key).and_then(|value| value.downcast_ref())
    }

    /// A value of its own, that stays when these are gone.
    pub(crate) fn share<T: Send + Sync + 'static>(&self, key: &LocalsKey<T>) -> Option<Arc<T>> {
        self.find(key).and_then(|value| value.clone().downcast().ok())
    }
}

impl_debug!(Values, |values| { len: values.all().len(), .. });
