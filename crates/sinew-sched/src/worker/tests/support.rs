//! Workers without threads: each test puts them into the states that it needs.

use std::io;
use std::sync::Arc;

use super::super::{Hooks, Worker};
use crate::clock::{Clock, SYSTEM};
use crate::driver::FutexDriver;
use crate::group::{Group, Nearby, Neighbourhood, Numbers, Role, Seat, Siblings};
use crate::lifecycle::Beginning;
use crate::mailbox::Mailbox;
use crate::pool_shared::{PoolShared, WorkerStarter};
use crate::strategy::Strategy;
use crate::task::TaskRef;

pub(super) const STRATEGIES: [Strategy; 2] = [Strategy::Local, Strategy::Shared];

/// Starts no spare workers: no task blocks.
struct NoSpares;

impl WorkerStarter for NoSpares {
    fn seat(&self, _: usize, _: Role) -> io::Result<Seat> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn start(&self, _: &Arc<PoolShared>, _: &Arc<Group>, _: usize, _: Beginning) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns a pool of groups of these sizes, all on one node. No worker runs.
pub(super) fn shared(strategy: Strategy, sizes: &[usize]) -> Arc<PoolShared> {
    shared_with(strategy, sizes, SYSTEM)
}

/// As [`shared`], with this clock.
pub(super) fn shared_with(strategy: Strategy, sizes: &[usize], clock: Clock) -> Arc<PoolShared> {
    let group = |group: usize| {
        let others = (0..sizes.len()).filter(|&other| other != group).collect();
        let near = Nearby { groups: others, every: 1 };
        let place =
            Neighbourhood { group, strategy, node: 0, siblings: Siblings { near, far: Nearby::default() } };
        let numbers = Numbers { first: sizes[..group].iter().sum(), first_spare: sizes.iter().sum() };
        let seat = |_| Seat::new(Mailbox::new(Box::new(FutexDriver::default())), Role::Regular);
        Arc::new(Group::new(place, numbers, (0..sizes[group]).map(seat).collect(), 1_024))
    };
    let groups = (0..sizes.len()).map(group).collect();
    Arc::new(PoolShared::new(groups, Box::new(NoSpares), clock))
}

/// Returns the worker of this seat, which must be free.
pub(super) fn worker(shared: &Arc<PoolShared>, group: usize, index: usize) -> Worker {
    let group = shared.groups()[group].clone();
    let deque = group.seat(index).and_then(Seat::sit_down).expect("the seat is free");
    Worker::new(shared.clone(), Arc::new(Hooks::default()), group, index, deque)
}

/// Returns all workers of a pool with one group.
pub(super) fn workers(strategy: Strategy, count: usize) -> Vec<Worker> {
    let shared = shared(strategy, &[count]);
    (0..count).map(|index| worker(&shared, 0, index)).collect()
}

/// Returns a task that does nothing.
pub(super) fn idle_task() -> TaskRef {
    TaskRef::new(|_| ())
}
