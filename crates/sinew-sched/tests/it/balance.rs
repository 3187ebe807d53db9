//! Begun tasks that cannot move spread over the workers, and balance leaves no work waiting.
//!
//! # Safety
//!
//! Trusted with boxes that travel as tasks.
#![expect(unsafe_code, reason = "a task is an untyped pointer")]

use super::support::{Countdown, Watched, wait_until, wait_until_all_sleep};
use sinew_sched::{Context, Handle, Header, Placement, TaskRef, Vtable};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task that settles: once it has begun, its worker owns it. It never ends.
#[repr(C)]
struct Settler {
    header: Header,
    begun: Countdown,
}

static SETTLER: Vtable = Vtable { run: settle, discard: give_up, settles: true };

unsafe fn settle(header: NonNull<Header>, context: &Context<'_>) {
    // SAFETY: called through the vtable: once, with the header of a boxed `Settler`.
    let settler = unsafe { Box::from_raw(header.cast::<Settler>().as_ptr()) };
    context.core().own();
    settler.begun.count_down();
}

unsafe fn give_up(header: NonNull<Header>) {
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(header.cast::<Settler>().as_ptr()) });
}

fn settler(begun: &Countdown) -> TaskRef {
    let boxed = Box::new(Settler { header: Header::new(&SETTLER), begun: begun.clone() });
    // SAFETY: the box was leaked here, and the task may begin on any worker.
    unsafe { TaskRef::from_raw(NonNull::from(Box::leak(boxed)).cast()) }
}

/// Counts the settled tasks as ended, so that the pool can drain.
fn unsettle(handle: &Handle) {
    for (worker, stats) in handle.stats().workers.iter().enumerate() {
        for _ in 0..stats.owned {
            handle.reschedule(TaskRef::new(|context| context.core().disown()), Placement::Worker(worker));
        }
    }
}

/// How many tasks settle on each worker depends on when the system runs the workers.
#[test]
fn tasks_that_are_left_to_others_all_begin() {
    for workers in [2, 8] {
        let watched = Watched::new(workers);
        let handle = watched.handle();
        wait_until_all_sleep(&handle);
        let begun = Countdown::new(4_000);
        let copy = begun.clone();
        // One worker makes them all, a few at a time, like a task that accepts connections.
        handle.submit(make_some(400, copy), Placement::Worker(0)).unwrap();
        begun.wait();
        let owned: isize = handle.stats().workers.iter().map(|worker| worker.owned).sum();
        assert_eq!(owned, 4_000);
        unsettle(&handle);
        watched.finish();
    }
}

fn make_some(rounds: usize, begun: Countdown) -> TaskRef {
    TaskRef::new(move |context| {
        (0..10).for_each(|_| context.submit(settler(&begun)));
        if rounds > 1 {
            context.core().push(make_some(rounds - 1, begun));
        }
    })
}

/// The only free worker has more than its share: it runs the tasks all the same.
#[test]
fn a_worker_with_too_many_takes_tasks_that_no_other_worker_can_take() {
    let watched = Watched::new(2);
    let handle = watched.handle();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let hog = TaskRef::new(move |_| {
        while !flag.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    handle.submit(hog, Placement::Worker(1)).unwrap();
    let begun = Countdown::new(2_000);
    handle.submit(make_some(200, begun.clone()), Placement::Worker(0)).unwrap();
    begun.wait();
    stop.store(true, Ordering::Relaxed);
    unsettle(&handle);
    watched.finish();
}

/// The same, for a worker that always has begun tasks to run.
#[test]
fn a_busy_worker_with_too_many_takes_tasks_that_no_other_worker_can_take() {
    for to in [Placement::Anyone, Placement::GroupOnly(0)] {
        let watched = Watched::new(2);
        let handle = watched.handle();
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Countdown::new(1));
        let flag = stop.clone();
        let hog = TaskRef::new(move |_| {
            while !flag.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        handle.submit(hog, Placement::Worker(1)).unwrap();
        for _ in 0..100 {
            let stop = stop.clone();
            let begin = TaskRef::new(move |context| {
                context.core().own();
                context.core().push(go_on_until(stop));
            });
            handle.submit(begin, Placement::Worker(0)).unwrap();
        }
        wait_until(|| handle.stats().workers[0].owned == 100);
        let copy = done.clone();
        handle.submit(TaskRef::new(move |_| copy.count_down()), to).unwrap();
        done.wait();
        stop.store(true, Ordering::Relaxed);
        watched.finish();
    }
}

/// Returns a task that has settled, and yields again and again until it is stopped.
fn go_on_until(stop: Arc<AtomicBool>) -> TaskRef {
    TaskRef::new(move |context| {
        if stop.load(Ordering::Relaxed) {
            context.core().disown();
        } else {
            context.core().push(go_on_until(stop));
        }
    })
}
