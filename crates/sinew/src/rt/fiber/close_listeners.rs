//! Listeners that are called when an engine closes, before it refuses new fibers: fibers that they
//! spawn then still run. Does not know what the listeners are.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::rt::base::sync::Lock;
use crate::rt::base::{impl_debug, unwind};

/// A listener for the close of an engine.
pub(crate) trait OnClose: Send + Sync + 'static {
    /// Called once, when the engine closes, by the thread or fiber that shuts it down. Must not
    /// wait.
    fn at_close(self: Arc<Self>);
}

/// The listeners of an engine.
pub(crate) struct CloseListeners {
    /// By their addresses. The weak references keep the addresses from being reused. `None` after
    /// the listeners were called.
    all: Lock<Option<HashMap<usize, Weak<dyn OnClose>>>>,
}

impl CloseListeners {
    pub(crate) fn new() -> Self {
        Self { all: Lock::new(Some(HashMap::new())) }
    }

    /// Adds a listener. Returns false if the listeners were called already: the caller has to
    /// handle the close itself.
    #[must_use]
    pub(crate) fn add<L: OnClose>(&self, one: &Arc<L>) -> bool {
        let weak: Weak<dyn OnClose> = Arc::<L>::downgrade(one);
        let mut all = self.all.lock();
        let Some(all) = &mut *all else { return false };
        all.insert(address(&**one), weak);
        true
    }

    /// Removes a listener.
    pub(crate) fn remove<L: OnClose>(&self, one: &L) {
        let weak = self.all.lock().as_mut().and_then(|all| all.remove(&address(one)));
        drop(weak);
    }

    /// Calls all listeners. Without the lock, since a listener may remove itself.
    pub(crate) fn tell(&self) {
        let all = self.all.lock().take();
        for one in all.into_iter().flat_map(HashMap::into_values).filter_map(|one| one.upgrade()) {
            unwind::catch(|| one.at_close());
        }
    }
}

fn address<L>(one: &L) -> usize {
    std::ptr::from_ref(one).addr()
}

impl_debug!(CloseListeners, ..);

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counts(Arc<AtomicUsize>, Arc<CloseListeners>);

    impl OnClose for Counts {
        fn at_close(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.1.remove(&*self);
            panic!("inside the listener");
        }
    }

    #[test]
    fn present_listeners_are_called_once() {
        let (close_listeners, count) = (Arc::new(CloseListeners::new()), Arc::new(AtomicUsize::new(0)));
        let make = || Arc::new(Counts(count.clone(), close_listeners.clone()));
        let [one, two, three] = [make(), make(), make()];
        assert!([&one, &two, &three].into_iter().all(|one| close_listeners.add(one)));
        close_listeners.remove(&*two);
        drop(three);
        close_listeners.tell();
        close_listeners.tell();
        assert!(!close_listeners.add(&two));
        assert_eq!((count.load(Ordering::Relaxed), Arc::strong_count(&one)), (1, 1));
    }
}
