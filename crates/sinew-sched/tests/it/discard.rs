//! Tasks whose discarding runs the user's code: it panics, or sends more tasks.

use super::support::{
    Countdown, Fates, Nasty, WORKERS, Watched, builder, on_all_workers, wait_until, wait_until_all_are_gone,
};
use super::watchdog::Watchdog;
use sinew_sched::{Context, Core, FutexDriver, Handle, Placement, TaskRef};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);

/// Long enough to overflow any stack, if discarding one task discarded the next one inside.
const LONG: usize = 100_000;

/// Sends another of its kind when it is dropped, a given number of times.
struct Chain {
    handle: Handle,
    to: Placement,
    left: usize,
    token: Arc<()>,
}

impl Chain {
    fn new(handle: &Handle, to: Placement, token: &Arc<()>) -> Self {
        Self { handle: handle.clone(), to, left: LONG, token: token.clone() }
    }

    fn into_task(self) -> TaskRef {
        TaskRef::new(move |_| drop(self))
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if self.left > 0 {
            let Self { to, left, .. } = *self;
            let next = Self { handle: self.handle.clone(), to, left: left - 1, token: self.token.clone() };
            self.handle.reschedule(next.into_task(), to);
        }
    }
}

#[test]
fn a_long_chain_of_tasks_is_discarded_after_the_end() {
    for workers in WORKERS {
        let pool = builder().workers(workers).build().unwrap();
        let (handle, token) = (pool.handle(), Arc::new(()));
        assert!(pool.shutdown(None).drained);
        for to in [Placement::Anyone, Placement::Worker(0), Placement::Worker(workers - 1)] {
            drop(Chain::new(&handle, to, &token));
            assert_eq!(Arc::strong_count(&token), 1);
        }
    }
}

#[test]
fn a_long_chain_of_tasks_is_discarded_at_the_end() {
    for to in [Placement::Anyone, Placement::Worker(0)] {
        let mut watched = Watched::new(1);
        let (handle, token) = (watched.handle(), Arc::new(()));
        let gate = Countdown::new(1);
        let opened = gate.clone();
        on_all_workers(&handle, move |_| opened.wait());
        handle.submit(Chain::new(&handle, to, &token).into_task(), to).unwrap();
        let report = watched.shutdown(Some(SOON));
        assert_eq!(report.discarded, LONG + 1, "{report:?}");
        assert_eq!(Arc::strong_count(&token), 1);
        gate.count_down();
        wait_until_all_are_gone(&handle);
    }
}

#[test]
fn a_long_chain_of_tasks_is_discarded_on_a_worker() {
    for to in [Placement::Anyone, Placement::Worker(0), Placement::Worker(1)] {
        let mut watched = Watched::new(2);
        let (handle, token) = (watched.handle(), Arc::new(()));
        let (gate, copy, own) = (Countdown::new(1), handle.clone(), token.clone());
        let opened = gate.clone();
        on_all_workers(&handle, move |context| {
            opened.wait();
            if context.worker() == Some(0) {
                drop(Chain::new(&copy, to, &own));
            }
        });
        let report = watched.shutdown(Some(SOON));
        assert_eq!(report.stuck.len(), 2, "{report:?}");
        gate.count_down();
        wait_until_all_are_gone(&handle);
        wait_until(|| Arc::strong_count(&token) == 1);
    }
}

fn nasty() -> TaskRef {
    let nasty = Nasty;
    TaskRef::new(move |_| drop(nasty))
}

#[test]
fn tasks_that_panic_when_a_core_discards_them_harm_no_others() {
    let core = Core::new(Box::new(FutexDriver::default()));
    let (handle, fates) = (core.handle(), Fates::default());
    for _ in 0..3 {
        core.push(nasty());
        core.push(fates.task());
        handle.post(nasty()).expect("the core is there");
        handle.post(fates.task()).expect("the core is there");
    }
    drop(core);
    assert_eq!((fates.ran(), fates.discarded()), (0, 6));
}

/// The tasks may be in any place when a pool ends.
#[test]
fn tasks_that_panic_when_a_pool_discards_them_harm_no_others() {
    for workers in WORKERS {
        let mut watched = Watched::new(workers);
        let (handle, fates) = (watched.handle(), Fates::default());
        let (ready, gate) = (Countdown::new(workers), Countdown::new(1));
        let (tasks, filled, opened) = (fates.clone(), ready.clone(), gate.clone());
        on_all_workers(&handle, move |context| {
            fill(context, &tasks);
            filled.count_down();
            opened.wait();
        });
        ready.wait();
        for worker in 0..workers {
            for to in [Placement::Anyone, Placement::Worker(worker)] {
                handle.submit(nasty(), to).unwrap();
                handle.submit(fates.task(), to).unwrap();
            }
        }
        // Fewer tasks than go to the queue's list, and more.
        for count in [10, 100] {
            let some = (0..count).flat_map(|_| [nasty(), fates.task()]);
            handle.submit_batch(some, Placement::Anyone).unwrap();
        }
        watched.shutdown(Some(SOON));
        gate.count_down();
        wait_until_all_are_gone(&handle);
        wait_until(|| fates.unknown() == 0);
        assert_eq!((fates.ran(), fates.discarded()), (0, 12 * workers + 110));
        // Discarding still works.
        handle.reschedule(fates.task(), Placement::Anyone);
        assert_eq!(fates.unknown(), 0);
    }
}

fn fill(context: &Context<'_>, fates: &Fates) {
    for _ in 0..5 {
        context.core().push(nasty());
        context.core().push(fates.task());
        context.submit(nasty());
        context.submit(fates.task());
    }
}

/// A worker that stays for ever calls its hook last: no other worker would take what the hook
/// leaves in the worker's own deque.
#[test]
fn what_the_hook_of_a_worker_that_stays_leaves_is_discarded() {
    let left = Arc::new(());
    let weak = Arc::downgrade(&left);
    let slot = Mutex::new(Some(left));
    let leave = move |context: &Context<'_>| {
        let left = slot.lock().unwrap().take();
        context.submit(TaskRef::new(move |_| drop(left)));
    };
    let pool = builder().workers(1).on_stay(leave).build().unwrap();
    let begin = TaskRef::new(|context: &Context<'_>| context.core().own());
    pool.handle().submit(begin, Placement::Worker(0)).unwrap();
    pool.shutdown(Some(SOON));
    wait_until(|| weak.strong_count() == 0);
}

/// The destructor of a discarded task may wait for what the hook tells other threads: that the
/// tasks which have begun never end.
#[test]
fn a_worker_that_stays_calls_its_hook_before_it_discards() {
    struct Waits(Countdown);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.wait();
        }
    }
    let _watchdog = Watchdog::with(|| "a destructor waits for ever".to_owned());
    let [told, begun, gate, dropped] = [(); 4].map(|()| Countdown::new(1));
    let (tells, waits, begins) = (told.clone(), Waits(told), begun.clone());
    let (opened, done) = (gate.clone(), dropped.clone());
    let pool = builder().workers(1).on_stay(move |_| tells.count_down()).build().unwrap();
    let begin = TaskRef::new(move |context: &Context<'_>| {
        context.core().own();
        // The pushed task must run here, and never does: the pool is over when this one ends.
        let held = (waits, CountsDown(done));
        context.core().push(TaskRef::new(move |_| drop(held)));
        begins.count_down();
        opened.wait();
    });
    pool.handle().submit(begin, Placement::Worker(0)).unwrap();
    begun.wait();
    assert!(!pool.shutdown(Some(Duration::ZERO)).drained);
    gate.count_down();
    dropped.wait();
}

struct CountsDown(Countdown);

impl Drop for CountsDown {
    fn drop(&mut self) {
        self.0.count_down();
    }
}
