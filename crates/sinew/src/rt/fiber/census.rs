//! Which fibers of an engine have begun, and which of those run, for any thread to read.
//!
//! The lists of fibers that have begun belong to the workers (see [`roster`](super::roster)). A
//! reader holds the locks of all of them. Meanwhile no fiber begins or ends, and no fiber that has
//! begun is freed, since a fiber leaves its list first. The fiber that a worker runs is a pointer
//! that the worker publishes at each switch. The fiber enters a list before the pointer is
//! published, and leaves the list after the pointer is withdrawn. So if a reader finds the pointer
//! while it holds the locks, the fiber is in a list, and alive.
//!
//! # Safety
//!
//! Trusted with reading the fibers of other workers under these locks.
#![expect(unsafe_code, reason = "fibers and lists of other workers are pointers")]

use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use super::block::FiberBlock;
use super::roster::{BegunList, Roamers, Roster};
use crate::rt::base::sync::{Lock, MutexGuard};
use crate::rt::base::{Walk, clock, hold_all, memory};
use crate::rt::timer::CoreTimers;
use crate::rt::wait::{Birth, Control, FiberRef, Running, Scheduler, Status};

/// The registry of the fibers that have begun.
#[derive(Debug, Default)]
pub(crate) struct Census {
    workers: Lock<Vec<CensusEntry>>,
    /// The lists of fibers that may migrate, one for each worker where they began. A list lives as
    /// long as the engine.
    roamers: Lock<Vec<Arc<Roamers>>>,
}

/// The parts of a worker that other threads read.
#[derive(Debug)]
struct CensusEntry {
    worker: u32,
    /// # Invariant
    ///
    /// Both pointers are valid while this value is in its list: a worker is removed from there
    /// before they are freed.
    running: NonNull<Running>,
    roster: NonNull<Roster>,
    timers: Arc<CoreTimers>,
}

// SAFETY: any thread may read the target of `running`, and hold the lock of the roster.
unsafe impl Send for CensusEntry {}

/// A fiber that has begun and not ended.
#[derive(Clone, Debug)]
pub(crate) struct Leak {
    pub(crate) id: NonZero<u64>,
    pub(crate) name: Option<String>,
    pub(crate) worker: u32,
    pub(crate) location: &'static Location<'static>,
}

impl Leak {
    fn new(birth: &Birth, worker: u32) -> Self {
        let name = birth.name.as_deref().map(str::to_owned);
        Self { id: birth.id, name, worker, location: birth.location }
    }
}

/// The fibers that have begun and not ended, at one moment.
#[derive(Debug, Default)]
pub(crate) struct BegunFiber {
    /// The suspended fibers, sorted by number.
    pub(crate) waiting: Vec<Leak>,
    /// The fibers that run, or have entered one that runs, sorted by number.
    pub(crate) running: Vec<Leak>,
}

impl Census {
    /// Adds a worker. It must be [removed](Self::remove_worker) before the values that the pointers
    /// refer to are freed.
    pub(crate) fn add_worker(
        &self,
        worker: u32,
        (running, roster): (&'static Running, &'static Roster),
        timers: &Arc<CoreTimers>,
    ) {
        let timers = timers.clone();
        let entry =
            CensusEntry { worker, running: NonNull::from(running), roster: NonNull::from(roster), timers };
        let mut workers = self.workers.lock();
        let place = workers.partition_point(|entry| entry.worker <= worker);
        workers.insert(place, entry);
    }

    /// Removes a worker that ends.
    pub(crate) fn remove_worker(&self, running: &Running) {
        self.workers.lock().retain(|entry| entry.running != NonNull::from(running));
    }

    /// Adds a list of fibers that may migrate.
    pub(crate) fn add_roamers(&self) -> Arc<Roamers> {
        let roamers = Arc::<Roamers>::default();
        self.roamers.lock().push(roamers.clone());
        roamers
    }

    /// Returns the lists of fibers that may migrate.
    pub(crate) fn roamers(&self) -> Vec<Arc<Roamers>> {
        self.roamers.lock().clone()
    }

    /// Returns how many workers have begun.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn workers(&self) -> usize {
        self.workers.lock().len()
    }

    /// Returns how many workers have timers that were due this long ago and have not fired.
    pub(crate) fn neglected_timers(&self, by: Duration) -> usize {
        let now = clock::now();
        self.workers.lock().iter().filter(|entry| entry.timers.is_late(now, by)).count()
    }

    /// Returns whether this worker has timers that were due this long ago and have not fired.
    pub(crate) fn neglects_timers(&self, worker: u32, by: Duration) -> bool {
        let now = clock::now();
        self.workers.lock().iter().any(|entry| entry.worker == worker && entry.timers.is_late(now, by))
    }

    /// Returns how many of the fibers that have begun on this worker, and stay there, are ready to
    /// run.
    ///
    /// Returns 0 if the kernel does not support the barrier that reading them needs.
    pub(crate) fn ready_on(&self, worker: u32) -> usize {
        let workers = self.workers.lock();
        let Some(entry) = workers.iter().find(|entry| entry.worker == worker) else { return 0 };
        let Some(_held) = hold_all(std::iter::once(&entry.roster().lock)) else { return 0 };
        let mut ready = 0;
        entry.roster().for_each(|control| {
            // SAFETY: the fiber is in a list whose lock is held.
            let fiber = unsafe { control.as_ref() };
            ready += usize::from(fiber.status() == Status::Ready);
        });
        ready
    }

    /// Returns the fiber that each worker runs, if it runs one.
    ///
    /// Returns `None` if the kernel does not support the barrier that reading them needs.
    pub(crate) fn running(&self) -> Option<Vec<Leak>> {
        self.read(|workers, _| {
            let running = |entry: &CensusEntry| {
                // SAFETY: the fiber is in a list whose lock is held, as the module's comment
                // argues.
                let fiber = unsafe { entry.runs()?.as_ref() };
                Some(Leak::new(&fiber.birth, entry.worker))
            };
            workers.iter().filter_map(running).collect()
        })
    }

    /// Returns all fibers that have begun and not ended. `also` is called while no fiber begins or
    /// ends.
    ///
    /// Returns `None` if the kernel does not support the barrier that reading them needs.
    pub(crate) fn begun<R>(&self, also: impl FnOnce() -> R) -> Option<(BegunFiber, R)> {
        self.read(|workers, roamers| {
            let on_threads: Vec<_> = workers.iter().filter_map(CensusEntry::runs).collect();
            let mut begun = BegunFiber::default();
            let mut add = |control: NonNull<Control>| {
                // SAFETY: the fiber is in a list whose lock is held.
                let fiber = unsafe { control.as_ref() };
                let runs = fiber.status() == Status::Running || on_threads.contains(&control);
                let all = if runs { &mut begun.running } else { &mut begun.waiting };
                all.push(Leak::new(&fiber.birth, fiber.worker()));
            };
            workers.iter().for_each(|entry| entry.roster().for_each(&mut add));
            roamers.iter().for_each(|list| list.for_each(&mut add));
            for fibers in [&mut begun.waiting, &mut begun.running] {
                fibers.sort_unstable_by_key(|fiber| fiber.id);
            }
            (begun, also())
        })
    }

    /// Returns all fibers of the host with this scheduler that have not ended, including those that
    /// have not begun. A fiber that is made or ends meanwhile may be included or not.
    ///
    /// Keeps workers from beginning and ending fibers for some microseconds at a time.
    ///
    /// Returns `None` if the kernel does not support the barrier that reading them needs.
    pub(crate) fn all(&self, host: NonNull<Scheduler>) -> Option<Vec<FiberRef>> {
        let (mut fibers, mut next) = (Vec::new(), Some(Walk::START));
        while let Some(walk) = next {
            next = self.read(|_, _| {
                memory::walk(walk, |block| {
                    // SAFETY: no block is freed during a step of the walk, and no fiber ends while
                    // the locks are held. A fiber that has begun leaves its list first, and one
                    // that has not begun is hidden between two steps.
                    if let Some(control) = unsafe { FiberBlock::find(block, host) } {
                        // SAFETY: the fiber has not ended, so its block is alive.
                        fibers.push(unsafe { FiberRef::new(control) });
                    }
                })
            })?;
        }
        Some(fibers)
    }

    /// Calls `read` while no fiber begins, ends, or is freed.
    fn read<R>(&self, read: impl FnOnce(&[CensusEntry], &[MutexGuard<'_, BegunList>]) -> R) -> Option<R> {
        // A worker that begins meanwhile waits until its list can be added.
        let lists = self.roamers.lock();
        let roamers: Vec<_> = lists.iter().map(|list| list.lock()).collect();
        let workers = self.workers.lock();
        let _held = hold_all(workers.iter().map(|entry| &entry.roster().lock))?;
        Some(read(&workers, &roamers))
    }
}

impl CensusEntry {
    fn roster(&self) -> &Roster {
        // SAFETY: the invariant of `running`. Callers have the entry from its list, which is
        // locked.
        unsafe { self.roster.as_ref() }
    }

    fn runs(&self) -> Option<NonNull<Control>> {
        // SAFETY: as above.
        unsafe { self.running.as_ref() }.seen()
    }
}
