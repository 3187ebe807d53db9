//! The homes of timers with callbacks: the timers of all workers. Knows no worker's thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::callback::Callback;
use super::core_timers::CoreTimers;
use crate::rt::base::sync::Lock;
use crate::rt::base::unwind;

/// The timers of all workers except spare ones: a spare worker may end long before its timers are
/// due.
#[derive(Debug, Default)]
pub(crate) struct TimerHomes {
    timers: OnceLock<Box<[Arc<CoreTimers>]>>,
    /// How often a home was chosen for a caller that has none.
    turn: AtomicU32,
    /// Timers whose callback was refused.
    refused: Lock<Vec<Callback>>,
}

impl TimerHomes {
    /// Sets the timers, in the order of their workers' numbers. Called once, before there are
    /// timers with callbacks.
    pub(crate) fn settle(&self, timers: impl Iterator<Item = Arc<CoreTimers>>) {
        self.timers.get_or_init(|| timers.collect());
    }

    /// Returns the timers of the worker that makes a timer. Other callers, including spare workers,
    /// get the homes in turn.
    #[inline]
    pub(crate) fn of(&self, worker: Option<u32>) -> &Arc<CoreTimers> {
        let timers = self.timers.get().expect("the timers of workers are there before the first fiber");
        match worker.and_then(|worker| timers.get(worker as usize)) {
            Some(timers) => timers,
            // Relaxed: a mere counter.
            None => &timers[self.turn.fetch_add(1, Ordering::Relaxed) as usize % timers.len()],
        }
    }

    /// Keeps a due timer whose callback is refused. The shutdown drops it.
    pub(crate) fn keep(&self, refused: Callback) {
        self.refused.lock().push(refused);
    }

    /// Ends the waits for callbacks that may never end, when the engine is over.
    pub(crate) fn abandon_waits(&self) {
        self.iter().for_each(CoreTimers::abandon_waits);
    }

    /// Drops the armed and the refused timers, when nothing runs any more. This runs users'
    /// destructors, on the calling thread or fiber.
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
        // A spare worker has the number 2 or a larger one.
        let others = [None, Some(2), None, Some(99)].map(|worker| Arc::as_ptr(homes.of(worker)));
        assert_eq!(others, [first, second, first, second]);
    }
}
