//! Those who are to hear that an engine closes, before it refuses new fibers: what they make then is still run. Knows nothing of what they are.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use crate::rt::base::sync::Lock;
use crate::rt::base::{impl_debug, unwind};

/// What hears of it.
pub(crate) trait OnClose: Send + Sync + 'static {
    /// The engine closes. Called once, by whoever shuts it down, who may be a fiber: this must not wait.
    fn at_close(self: Arc<Self>);
}

/// All of an engine's.
pub(crate) struct CloseListeners {
    /// By their addresses, which a weak reference keeps from being used again. None, once they were told.
    all: Lock<Option<BTreeMap<usize, Weak<dyn OnClose>>>>,
}

impl CloseListeners {
    pub(crate) fn new() -> Self {
        Self { all: Lock::new(Some(BTreeMap::new())) }
    }

    /// One more that is to hear of it. False, if it is too late: the caller has to see to itself.
    #[must_use]
    pub(crate) fn add<L: OnClose>(&self, one: &Arc<L>) -> bool {
        let weak: Weak<dyn OnClose> = Arc::<L>::downgrade(one);
        let mut all = self.all.lock();
        let Some(all) = &mut *all else { return false };
        all.insert(address(&**one), weak);
        true
    }

    /// This one need not hear of it any more.
    pub(crate) fn remove<L: OnClose>(&self, one: &L) {
        let weak = self.all.lock().as_mut().and_then(|all| all.remove(&address(one)));
        drop(weak);
    }

    /// The engine closes. Without the lock: what hears of it may well remove itself.
    pub(crate) fn tell(&self) {
        let all = self.all.lock().take();
        for one in all.into_iter().flat_map(BTreeMap::into_values).filter_map(|one| one.upgrade()) {
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
            panic!("while it hears of it");
        }
    }

    #[test]
    fn those_that_are_there_are_told_once() {
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
