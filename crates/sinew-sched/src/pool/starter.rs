//! Makes the drivers and starts the threads of workers.

use std::io;
use std::sync::Arc;

use crate::driver::{Driver, FutexDriver};
use crate::group::{Group, Role, Seat};
use crate::lifecycle::Beginning;
use crate::mailbox::Mailbox;
use crate::pool_shared::{self, PoolShared};
use crate::thread::spawn_thread;
use crate::unwind;
use crate::worker::{Hooks, Place};
use sinew_topology::{CpuSet, Pinning, restrict_thread};

/// Makes a worker's driver.
type DriverMaker = dyn Fn(usize) -> io::Result<Box<dyn Driver>> + Send + Sync;
/// Starts a thread with a name and a body.
type Spawner = dyn Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<()> + Send + Sync;

/// How to make drivers and threads: with futexes and std unless set.
pub(super) struct Starter {
    pub(super) name: String,
    pub(super) driver: Box<DriverMaker>,
    pub(super) spawner: Box<Spawner>,
    /// The hooks that workers call.
    pub(super) hooks: Arc<Hooks>,
    /// The CPUs of the workers, unless they run on all.
    pub(super) pinning: Option<Pinning>,
}

impl Default for Starter {
    fn default() -> Self {
        Self {
            name: "sinew".to_owned(),
            driver: Box::new(futex_driver),
            spawner: Box::new(spawn_worker),
            hooks: Arc::default(),
            pinning: None,
        }
    }
}

impl pool_shared::WorkerStarter for Starter {
    fn seat(&self, worker: usize, role: Role) -> io::Result<Seat> {
        let driver = unwind::catch_result("the maker of drivers", || (self.driver)(worker))?;
        Ok(Seat::new(Mailbox::new(driver), role))
    }

    fn start(
        &self,
        shared: &Arc<PoolShared>,
        group: &Arc<Group>,
        index: usize,
        beginning: Beginning,
    ) -> io::Result<()> {
        let place = Place::take(shared, &self.hooks, group, index)
            .ok_or_else(|| io::Error::new(io::ErrorKind::ResourceBusy, "the seat is taken"))?;
        let name = format!("{}-{}", self.name, group.number_of(index));
        let (cpus, counters) = (self.cpus(group.number(), index), place.counters());
        let run = move || {
            // A refusal is counted. The worker runs all the same, on any CPU.
            if cpus.is_some_and(|cpus| restrict_thread(&cpus).is_err()) {
                counters.affinity_errors.add_shared(1);
            }
            place.run(beginning);
        };
        // If the starter does not run this closure, dropping it frees the seat.
        unwind::catch_result("the starter of threads", || (self.spawner)(name, Box::new(run)))
    }
}

impl Starter {
    /// Returns where a worker may run. A spare worker may run where its group does.
    pub(super) fn cpus(&self, group: usize, index: usize) -> Option<CpuSet> {
        let pinning = self.pinning.as_ref()?;
        pinning.worker(group, index).or_else(|| pinning.group(group))
    }
}

impl Drop for Starter {
    /// Drops both functions, even if a destructor panics: they hold the user's values. The pool may
    /// end on any thread, so panics end here.
    fn drop(&mut self) {
        unwind::catch(|| self.driver = Box::new(futex_driver));
        unwind::catch(|| self.spawner = Box::new(spawn_worker));
    }
}

fn futex_driver(_: usize) -> io::Result<Box<dyn Driver>> {
    Ok(Box::new(FutexDriver::default()))
}

fn spawn_worker(name: String, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    spawn_thread(name, None, body)
}
