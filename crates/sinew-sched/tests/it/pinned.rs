//! Pools with a plan: workers on their CPUs, groups on their nodes, and kernels that refuse.

use crate::support::{Watched, quiet_panic, wait_until};
use sinew_sched::topology::{Access, Cgroups, CpuList, Plan, Selection, Wishes};
use sinew_sched::{BuildError, Context, CpuSet, Driver, FutexDriver, Placement, Pool, TaskRef, Topology};
use std::sync::{Arc, Mutex};

/// Returns the CPUs that the calling thread may run on, as the kernel reports them.
pub(crate) fn allowed() -> CpuSet {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().parse().unwrap()
}

/// Returns the CPUs that each worker may run on.
fn allowed_by_worker(watched: &Watched) -> Vec<CpuSet> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let workers = watched.pool().workers();
    for worker in 0..workers {
        let found = found.clone();
        let note = move |_: &Context<'_>| found.lock().unwrap().push((worker, allowed()));
        watched.handle().submit(TaskRef::new(note), Placement::Worker(worker)).unwrap();
    }
    wait_until(|| found.lock().unwrap().len() == workers);
    let mut found = found.lock().unwrap().clone();
    found.sort_by_key(|(worker, _)| *worker);
    found.into_iter().map(|(_, cpus)| cpus).collect()
}

pub(crate) fn affinity_errors(watched: &Watched) -> Vec<u64> {
    watched.handle().stats().workers.iter().map(|worker| worker.affinity_errors).collect()
}

fn start(wishes: &Wishes) -> Watched {
    Watched::with(Pool::builder().plan(&Plan::for_this_process("/", wishes).unwrap()).build().unwrap())
}

#[test]
fn workers_run_where_the_process_may_unless_cpus_are_chosen() {
    let watched = start(&Wishes { concurrency: Some(3), ..Wishes::default() });
    assert!(allowed_by_worker(&watched).iter().all(|cpus| *cpus == allowed()));
    watched.finish();
}

#[test]
fn each_worker_has_a_cpu_of_its_own_if_asked() {
    let watched = start(&Wishes { one_per_cpu: true, ..Wishes::default() });
    let mut cpus: Vec<_> = allowed_by_worker(&watched).iter().map(ToString::to_string).collect();
    let workers = cpus.len();
    cpus.sort_unstable();
    cpus.dedup();
    assert!(cpus.len() == workers && cpus.iter().all(|cpu| cpu.parse::<u32>().is_ok()), "{cpus:?}");
    assert!(affinity_errors(&watched).iter().all(|errors| *errors == 0));
    watched.finish();
}

#[test]
fn workers_run_on_the_cpus_that_were_chosen() {
    let last: CpuList = "-1".parse().unwrap();
    let cpus = Selection { allowed: Some(last), ..Selection::default() };
    let watched = start(&Wishes { concurrency: Some(2), cpus, ..Wishes::default() });
    let last = allowed().last().unwrap();
    assert!(allowed_by_worker(&watched).iter().all(|cpus| *cpus == CpuSet::from_range(last..=last)));
    watched.finish();
}

/// The last worker's driver, so that on a machine with several nodes those of the others are made
/// and wait.
#[test]
fn a_driver_that_is_not_to_be_had_on_a_node_is_an_error() {
    let wishes = Wishes { concurrency: Some(4), numa: Some(true), ..Wishes::default() };
    let plan = Plan::for_this_process("/", &wishes).unwrap();
    let last = plan.layout().workers() - 1;
    for make in [|| Err(std::io::ErrorKind::OutOfMemory.into()), || quiet_panic("on purpose")] {
        let make = move |worker| if worker == last { make() } else { Ok(driver()) };
        let error = Pool::builder().plan(&plan).driver(make).build().unwrap_err();
        assert!(matches!(error, BuildError::Driver(worker, _) if worker == last), "{error}");
    }
}

fn driver() -> Box<dyn Driver> {
    Box::new(FutexDriver::default())
}

/// CPUs that do not exist: the kernel refuses, and the workers run on any CPU of the process.
#[test]
fn a_worker_whose_cpus_are_refused_runs_anywhere() {
    let machine = Topology::flat(CpuSet::from_range(900..=902));
    let access = Access::new(&machine, CpuSet::from_range(900..=902), Cgroups::default()).unwrap();
    let plan = Plan::new(machine, access, &Wishes { one_per_cpu: true, ..Wishes::default() }).unwrap();
    let watched = Watched::with(Pool::builder().plan(&plan).build().unwrap());
    assert!(allowed_by_worker(&watched).iter().all(|cpus| *cpus == allowed()));
    assert_eq!(affinity_errors(&watched), [1, 1, 1]);
    watched.finish();
}
