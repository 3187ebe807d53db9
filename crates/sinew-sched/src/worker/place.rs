//! A seat that is taken, from before its worker's thread starts until that thread ends. However the
//! thread ends, the seat is free again afterwards, and no task that was sent there is lost.

use std::sync::Arc;

use super::{Hooks, Worker};
use crate::group::Group;
use crate::lifecycle::{Beginning, Threads};
use crate::pool_shared::PoolShared;
use crate::queue::deque::Owner;
use crate::stats::Counters;
use crate::task::Context;
use crate::unwind::{self, Ended};

/// The right to be the worker of a seat.
pub(crate) struct Place {
    at: Option<(Arc<PoolShared>, Arc<Hooks>, Arc<Group>)>,
    index: usize,
    /// None only while the worker runs.
    deque: Option<Owner>,
    threads: Arc<Threads>,
}

impl Place {
    /// Takes a seat, if it is free. Its worker counts as awake.
    pub(crate) fn take(
        shared: &Arc<PoolShared>,
        hooks: &Arc<Hooks>,
        group: &Arc<Group>,
        index: usize,
    ) -> Option<Self> {
        let deque = group.seat(index)?.sit_down()?;
        shared.awake.rise();
        shared.threads.begin();
        let at = Some((shared.clone(), hooks.clone(), group.clone()));
        Some(Self { at, index, deque: Some(deque), threads: shared.threads.clone() })
    }

    /// Returns the counters of the seat's worker.
    pub(crate) fn counters(&self) -> Arc<Counters> {
        let seat = self.at.as_ref().and_then(|(.., group)| group.seat(self.index));
        seat.map_or_else(Arc::default, |seat| seat.counters.clone())
    }

    /// Runs tasks until the pool is over, or the worker is not needed any more. The thread ends
    /// with this call, unless tasks that cannot move have begun and not ended: what they hold must
    /// stay.
    ///
    /// # Panics
    ///
    /// Panics on a thread that is a worker already.
    pub(crate) fn run(mut self, beginning: Beginning) {
        let is_free = Context::with_current(|context| context.is_none());
        assert!(is_free, "a worker needs a thread of its own: this one is a worker already");
        let (Some((shared, hooks, group)), Some(deque)) = (self.at.clone(), self.deque.take()) else {
            return;
        };
        let ended = unwind::catch(|| {
            let worker = Worker::new(shared, hooks, group, self.index, deque);
            let context = Context::of_worker(&worker);
            context.enter(|| worker.run(&context, beginning));
            self.deque = Some(worker.into_deque());
        });
        if ended == Ended::Panicked {
            // The worker catches panics of tasks, hooks and drivers, so this one is a bug in the
            // worker. No thread would run its tasks any more.
            std::process::abort();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (Some((shared, hooks, group)), Some(deque)) = (self.at.take(), self.deque.take()) else { return };
        if let Some(seat) = group.seat(self.index) {
            group.spares.leave(seat);
            let left = seat.get_up(deque);
            if !left.is_empty() {
                shared.put_outside(&group, left);
            }
        }
        shared.leave();
        // Before the thread counts as ended: a thread that waits for that may then rely on being
        // the last to hold drivers and hooks.
        drop((shared, hooks, group));
        self.threads.end();
    }
}
