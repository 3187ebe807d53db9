//! Where timers live that call back: with the timers of all workers. Knows no worker's thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::callback::Callback;
use super::core_timers::CoreTimers;
use crate::rt::base::sync::Lock;
use crate::rt::base::unwind;

/// The timers of all workers, spare ones excepted: such a worker may end long before what is set
/// there is due.
#[derive(Debug, Default)]
pub(crate) struct TimerHomes {
    timers: OnceLock<Box<[Arc<CoreTimers>]>>,
    /// How often one was chosen for somebody who has none.
    turn: AtomicU32,
    /// Timers whose callback was refused.
    refused: Lock<Vec<Callback>>,
}

impl TimerHomes {
    /// These are all of them, by the numbers of their workers. Once, before there are timers.
    pub(crate) fn settle(&self, timers: impl Iterator<Item = Arc<CoreTimers>>) {
        self.timers.get_or_init(|| timers.collect());
    }

    /// That of the worker which makes a timer. Others, spare workers among them, get one after the other.
    #[inline]
    pub(crate) fn of(&self, worker: Option<u32>) -> &Arc<CoreTimers> {
        let timers = self.timers.get().expect("the timers of workers are there before the first fiber");
        match worker.and_then(|worker| timers.get(worker as usize)) {
            Some(timers) => timers,
            // Relaxed: it counts, and no more.
            None => &timers[self.turn.fetch_add(1, Ordering::Relaxed) as usize % timers.len()],
        }
    }

    /// A timer is due whose callback is refused. It is dropped by whoever shuts down.
    pub(crate) fn keep(&self, refused: Callback) {
        self.refused.lock().push(refused);
    }

    /// The engine is over: nobody waits any longer for callbacks that may never end.
    pub(crate) fn abandon_waits(&self) {
        self.iter().for_each(CoreTimers::abandon_waits);
    }

    /// Nothing is run any more: drops what was set, and what was refused. That runs destructors, on the calling thread or fiber.
    pub(crate) fn close(&self) {
        self.iter().for_each(CoreTimers::close);
        let refused = std::mem::take(&mut *self.refused.lock());
        refused.into_iter().for_each(|timer| unwind::catch(|| drop(timer)));
    }

    fn iter(&self) -> impl Iterator<Item = &CoreTimers> {
        self.timers.get().into_iter().flatten().map(|timers| &**timers)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::core_timers::Awake;
    use super::*;

    #[test]
    fn workers_have_their_own_and_all_others_get_one_by_turns() {
        let homes = TimerHomes::default();
        homes.settle((0..2).map(|_| Arc::new(CoreTimers::new(Arc::new(Awake)))));
        let [first, second] = [0, 1].map(|worker| Arc::as_ptr(homes.of(Some(worker))));
        assert_ne!(first, second);
        // A spare worker has the number 2, or a larger one.
        let others = [None, Some(2), None, Some(99)].map(|worker| Arc::as_ptr(homes.of(worker)));
        assert_eq!(others, [first, second, first, second]);
    }
}
