//! Every task runs exactly once, while threads submit, steal, yield and shut down.

use super::support::{
    Countdown, Fates, Random, WORKERS, Watched, builder, wait_until, wait_until_all_are_gone,
};
use sinew_sched::{Context, Handle, Placement, TaskRef};
use std::thread;
use std::time::Duration;

/// Returns a task that makes a tree: some children each, in random ways, down to a depth.
fn tree(handle: &Handle, done: &Countdown, seed: u64, depth: u32) -> TaskRef {
    let (handle, done) = (handle.clone(), done.clone());
    TaskRef::new(move |context| {
        if depth > 0 {
            let mut random = Random::new(seed);
            for child in 0..3 {
                let task = tree(&handle, &done, seed * 3 + child, depth - 1);
                hand_on(&handle, context, task, random.below(5));
            }
        }
        done.count_down();
    })
}

fn hand_on(handle: &Handle, context: &Context<'_>, task: TaskRef, way: u64) {
    let workers = handle.stats().workers.len();
    match way {
        0 => context.submit(task),
        1 => context.yield_to_others(task),
        2 => context.core().push(task),
        3 => handle.submit(task, Placement::Anyone).unwrap(),
        _ => handle.submit(task, Placement::Worker(workers - 1)).unwrap(),
    }
}

#[test]
fn trees_of_tasks_run_exactly_once() {
    for workers in WORKERS {
        for seed in 1..4 {
            let watched = Watched::new(workers);
            let nodes = (0..=6).map(|level| 3_usize.pow(level)).sum();
            let done = Countdown::new(nodes);
            watched.handle().submit(tree(&watched.handle(), &done, seed, 6), Placement::Anyone).unwrap();
            done.wait();
            let handle = watched.handle();
            watched.finish();
            assert_eq!(handle.stats().tasks(), nodes as u64);
        }
    }
}

#[test]
fn many_threads_submit_to_many_workers() {
    const THREADS: usize = 4;
    const EACH: usize = 5_000;
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(THREADS * EACH);
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (handle, done) = (watched.handle(), done.clone());
                thread::spawn(move || submit_some(&handle, &done, EACH, thread as u64))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        done.wait();
        watched.finish();
    }
}

fn submit_some(handle: &Handle, done: &Countdown, count: usize, seed: u64) {
    let mut random = Random::new(seed + 1);
    let workers = handle.stats().workers.len() as u64;
    let mut left = count;
    while left > 0 {
        let some = (random.below(100) as usize + 1).min(left);
        left -= some;
        match random.below(3) {
            0 => handle.submit_batch((0..some).map(|_| done.task()), Placement::Anyone).unwrap(),
            1 => (0..some).for_each(|_| handle.submit(done.task(), Placement::Anyone).unwrap()),
            _ => {
                let to = Placement::Worker(random.below(workers) as usize);
                (0..some).for_each(|_| handle.submit(done.task(), to).unwrap());
            }
        }
    }
}

/// A full queue loses no tasks.
#[test]
fn a_queue_that_overflows_loses_nothing() {
    for workers in WORKERS {
        let pool = builder().workers(workers).queue_capacity(4).build().unwrap();
        let watched = Watched::with(pool);
        let done = Countdown::new(10_000);
        for _ in 0..10_000 {
            watched.handle().submit(done.task(), Placement::Anyone).unwrap();
        }
        done.wait();
        watched.finish();
    }
}

/// A worker's own tasks, while others take some: repeatedly more than fit into its first ring.
#[test]
fn a_deque_that_grows_loses_nothing() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let (children, done) = (Countdown::new(30_000), Countdown::new(3));
        for _ in 0..3 {
            let (children, done) = (children.clone(), done.clone());
            let parent = TaskRef::new(move |context| {
                (0..10_000).for_each(|_| context.submit(children.task()));
                done.count_down();
            });
            watched.handle().submit(parent, Placement::Worker(0)).unwrap();
        }
        done.wait();
        children.wait();
        watched.finish();
    }
}

#[test]
fn a_task_taken_during_a_shutdown_runs_or_is_discarded() {
    for workers in WORKERS {
        for seed in 0..20 {
            let mut watched = Watched::new(workers);
            let fates = Fates::default();
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let (handle, fates) = (watched.handle(), fates.clone());
                    thread::spawn(move || submit_until_closed(&handle, &fates, thread))
                })
                .collect();
            // Some tasks are on their way; the seed decides how many.
            wait_until(|| fates.ran() >= seed * 10);
            let time = if seed % 2 == 0 { Duration::ZERO } else { Duration::from_secs(60) };
            let handle = watched.handle();
            let report = watched.shutdown(Some(time));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // A task may still be running, if its worker got no processor time meanwhile.
            wait_until_all_are_gone(&handle);
            // A producer that sweeps does so before it returns.
            assert_eq!(fates.unknown(), 0, "{report:?}");
        }
    }
}

/// Submits tasks until one is refused.
fn submit_until_closed(handle: &Handle, fates: &Fates, thread: usize) {
    let to = if thread == 0 { Placement::Worker(0) } else { Placement::Anyone };
    while handle.submit(fates.task(), to).is_ok() {}
}
