//! Typed values by the numbers of their keys; once made, they stay as they are. Knows nobody who has them.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use super::locals::Key;
use super::unwind;

/// A value of any type.
type Value = Arc<dyn Any + Send + Sync>;

/// The values. A null word, while there are none.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<All>>);

/// At least one.
struct All(Vec<(u32, Value)>);

impl Drop for All {
    /// Each is dropped, whatever the others do. The first panic goes on from here, unless one is under way: a second one would end the process.
    fn drop(&mut self) {
        let mut panic = None;
        for (_, value) in self.0.drain(..) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                // The panic hook has told about each.
                match panic {
                    None => panic = Some(payload),
                    Some(_) => unwind::discard(payload),
                }
            }
        }
        match panic {
            Some(payload) if !thread::panicking() => resume_unwind(payload),
            payload => payload.into_iter().for_each(unwind::discard),
        }
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

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("len", &self.all().len()).finish_non_exhaustive()
    }
}
