//! Several groups: where tasks go, which group takes them from which, and that none is left
//! waiting.

use crate::support::{Random, Watched, builder, wait_until};
use sinew_sched::{BuildError, Context, Placement, Refusal, TaskRef};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn pool(sizes: &[usize]) -> Watched {
    Watched::with(builder().groups(sizes.iter().copied()).build().unwrap())
}

#[test]
fn workers_of_all_groups_have_numbers_of_their_own() {
    for sizes in [vec![1], vec![2, 3], vec![1, 1, 1, 1], vec![64, 64], vec![1, 5, 2]] {
        let watched = pool(&sizes);
        let handle = watched.handle();
        let total = sizes.iter().sum::<usize>();
        assert_eq!((handle.workers(), handle.groups()), (total, sizes.len()));
        let found = Arc::new(Mutex::new(Vec::new()));
        for worker in 0..total {
            let found = found.clone();
            let note =
                move |context: &Context<'_>| found.lock().unwrap().push((context.worker(), context.group()));
            handle.submit(TaskRef::new(note), Placement::Worker(worker)).unwrap();
        }
        wait_until(|| found.lock().unwrap().len() == total);
        let mut found = found.lock().unwrap().clone();
        found.sort_unstable();
        let groups = sizes.iter().enumerate().flat_map(|(group, size)| std::iter::repeat_n(group, *size));
        let wanted: Vec<_> = groups.enumerate().map(|(worker, group)| (Some(worker), Some(group))).collect();
        assert_eq!(found, wanted);
        for (group, size) in sizes.iter().enumerate() {
            assert_eq!((handle.group_size(group), handle.group_node(group)), (Some(*size), Some(0)));
        }
        assert_eq!(handle.group_size(sizes.len()), None);
        let numbers: Vec<_> = handle.stats().workers.iter().map(|stats| stats.worker).collect();
        assert_eq!(numbers, Vec::from_iter(0..total));
        watched.finish();
    }
}

#[test]
fn a_task_knows_the_node_of_its_group() {
    let nodes = [4, 0, 9];
    let watched = Watched::with(builder().groups([1, 1, 1]).nodes(nodes).build().unwrap());
    let found = Arc::new(Mutex::new([None; 3]));
    for group in 0..3 {
        let found = found.clone();
        let note = move |context: &Context<'_>| found.lock().unwrap()[group] = context.node();
        watched.handle().submit(TaskRef::new(note), Placement::GroupOnly(group)).unwrap();
    }
    watched.finish();
    assert_eq!(*found.lock().unwrap(), nodes.map(Some));
}

/// Holds all workers of a group until it is dropped.
pub(crate) struct Held {
    release: Arc<AtomicBool>,
}

impl Held {
    pub(crate) fn all(watched: &Watched, workers: std::ops::Range<usize>) -> Self {
        let release = Arc::new(AtomicBool::new(false));
        let held = Arc::new(AtomicUsize::new(0));
        for worker in workers.clone() {
            let (release, held) = (release.clone(), held.clone());
            let hold = move |_: &Context<'_>| {
                held.fetch_add(1, Ordering::Relaxed);
                while !release.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            };
            watched.handle().submit(TaskRef::new(hold), Placement::Worker(worker)).unwrap();
        }
        wait_until(|| held.load(Ordering::Relaxed) == workers.len());
        Self { release }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release.store(true, Ordering::Relaxed);
    }
}

/// Sends tasks to a group whose workers are all held, and returns the groups that have run them
/// once `count` have run.
pub(crate) fn run_in(watched: &Watched, to: Placement, count: usize) -> Arc<Mutex<Vec<usize>>> {
    let groups = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..count {
        let groups = groups.clone();
        let note = move |context: &Context<'_>| groups.lock().unwrap().push(context.group().unwrap());
        watched.handle().submit(TaskRef::new(note), to).unwrap();
    }
    groups
}

#[test]
fn a_loaded_group_is_drained_by_an_idle_one() {
    for sizes in [[1, 1], [2, 2], [1, 8], [8, 1]] {
        let watched = pool(&sizes);
        let held = Held::all(&watched, 0..sizes[0]);
        let groups = run_in(&watched, Placement::Group(0), 500);
        wait_until(|| groups.lock().unwrap().len() == 500);
        assert!(groups.lock().unwrap().iter().all(|group| *group == 1), "no other worker is free");
        let remote: u64 = watched.handle().stats().workers.iter().map(|worker| worker.steals_remote).sum();
        assert!(remote > 0, "they are counted");
        drop(held);
        watched.finish();
    }
}

/// Tasks in a busy worker's own deque are taken too. Here it is one task at a time, for which the
/// worker is about to wait.
#[test]
fn what_a_worker_of_a_loaded_group_made_is_taken() {
    let watched = pool(&[1, 1]);
    let is_done = Arc::new(AtomicUsize::new(0));
    let done = is_done.clone();
    let parent = move |context: &Context<'_>| {
        for children in 1..=50 {
            let done = done.clone();
            context.submit(TaskRef::new(move |context: &Context<'_>| {
                assert_eq!(context.group(), Some(1));
                done.fetch_add(1, Ordering::Relaxed);
            }));
            if children % 5 == 0 {
                while is_done.load(Ordering::Relaxed) < children {
                    std::thread::yield_now();
                }
            }
        }
    };
    watched.handle().submit(TaskRef::new(parent), Placement::Worker(0)).unwrap();
    watched.finish();
}

#[test]
fn what_is_for_one_group_only_is_run_by_no_other() {
    let watched = pool(&[2, 2]);
    let held = Held::all(&watched, 0..2);
    let kept = run_in(&watched, Placement::GroupOnly(0), 300);
    let free = run_in(&watched, Placement::Group(0), 300);
    wait_until(|| free.lock().unwrap().len() == 300);
    assert_eq!(kept.lock().unwrap().len(), 0, "its workers are held");
    drop(held);
    wait_until(|| kept.lock().unwrap().len() == 300);
    assert!(kept.lock().unwrap().iter().all(|group| *group == 0));
    watched.finish();
}

/// Both queues of a group have room for two, and nothing leaves them while the worker is held.
#[test]
fn tasks_for_which_a_queue_has_no_room_are_counted_and_run() {
    let watched = Watched::with(builder().workers(1).queue_capacity(2).build().unwrap());
    let held = Held::all(&watched, 0..1);
    let anyones = run_in(&watched, Placement::Anyone, 3);
    let kept = run_in(&watched, Placement::GroupOnly(0), 4);
    let stats = watched.handle().stats();
    assert_eq!((stats.overflowed, stats.queued), (1 + 2, 3 + 4), "{stats:?}");
    drop(held);
    watched.finish();
    assert_eq!((anyones.lock().unwrap().len(), kept.lock().unwrap().len()), (3, 4));
}

#[test]
fn work_crosses_nodes_only_if_that_is_on() {
    for rounds in [0, 1, 64] {
        let builder = builder().groups([1, 1, 1]).nodes([0, 1, 0]);
        let watched = Watched::with(builder.steal_across_nodes(rounds).build().unwrap());
        assert_eq!(watched.handle().group_node(1), Some(1));
        let near = Held::all(&watched, 2..3);
        let held = Held::all(&watched, 0..1);
        let groups = run_in(&watched, Placement::Group(0), 100);
        if rounds > 0 {
            wait_until(|| groups.lock().unwrap().len() == 100);
            assert!(groups.lock().unwrap().iter().all(|group| *group == 1));
        } else {
            // The other node's worker is free, and runs its own tasks.
            let own = run_in(&watched, Placement::Group(1), 100);
            wait_until(|| own.lock().unwrap().len() == 100);
            assert_eq!(groups.lock().unwrap().len(), 0);
        }
        drop((near, held));
        wait_until(|| groups.lock().unwrap().len() == 100);
        watched.finish();
    }
}

#[test]
fn nothing_is_taken_from_others_if_that_is_off() {
    let watched = Watched::with(builder().groups([1, 1]).steal_within_node(0).build().unwrap());
    let held = Held::all(&watched, 0..1);
    let groups = run_in(&watched, Placement::Group(0), 10);
    let own = run_in(&watched, Placement::Group(1), 100);
    wait_until(|| own.lock().unwrap().len() == 100);
    assert_eq!(groups.lock().unwrap().len(), 0);
    drop(held);
    wait_until(|| groups.lock().unwrap().len() == 10);
    watched.finish();
}

#[test]
fn what_threads_bring_goes_to_all_groups() {
    let watched = Watched::with(builder().groups([1, 1, 1]).steal_within_node(0).build().unwrap());
    let groups = run_in(&watched, Placement::Anyone, 30);
    wait_until(|| groups.lock().unwrap().len() == 30);
    let found: HashSet<_> = groups.lock().unwrap().iter().copied().collect();
    assert_eq!(found.len(), 3);
    watched.finish();
}

/// In turn, and not by the number of tasks: batches with as many tasks as there are groups must not
/// always go to the same one.
#[test]
fn batches_go_to_all_groups() {
    let watched = Watched::with(builder().groups([1, 1]).steal_within_node(0).build().unwrap());
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    for _ in 0..10 {
        let count = |_| {
            let counts = counts.clone();
            TaskRef::new(move |context: &Context<'_>| {
                counts[context.group().unwrap()].fetch_add(1, Ordering::Relaxed);
            })
        };
        watched.handle().submit_batch((0..2).map(count), Placement::Anyone).unwrap();
    }
    watched.finish();
    assert_eq!([0, 1].map(|group: usize| counts[group].load(Ordering::Relaxed)), [10, 10]);
}

/// A worker looks at them before it sleeps, or it would search for as long as they have tasks.
#[test]
fn work_is_taken_however_seldom_others_are_looked_at() {
    let watched = Watched::with(builder().groups([1, 1]).steal_within_node(u32::MAX).build().unwrap());
    let held = Held::all(&watched, 0..1);
    let groups = run_in(&watched, Placement::Group(0), 10);
    wait_until(|| groups.lock().unwrap().len() == 10);
    drop(held);
    watched.finish();
}

/// A lost wake-up is a hang here: each task waits for the one before it. Ends early if each round
/// takes long because other programs have the CPUs.
#[test]
fn no_wake_is_lost_between_groups() {
    for (seed, sizes) in [(1, vec![1, 1]), (2, vec![2, 2]), (3, vec![1, 1, 1, 1]), (4, vec![8, 8])] {
        let watched = pool(&sizes);
        let handle = watched.handle();
        let mut random = Random::new(seed);
        let (done, end) = (Arc::new(AtomicUsize::new(0)), Instant::now() + Duration::from_secs(2));
        for round in (0..2_000).take_while(|_| Instant::now() < end) {
            let group = random.below(sizes.len() as u64) as usize;
            let to = match random.below(4) {
                0 => Placement::Anyone,
                1 => Placement::Group(group),
                2 => Placement::GroupOnly(group),
                _ => Placement::Worker(random.below(sizes.iter().sum::<usize>() as u64) as usize),
            };
            let count = 1 + random.below(3) as usize;
            let wanted = done.load(Ordering::Relaxed) + count;
            for _ in 0..count {
                let done = done.clone();
                let task = TaskRef::new(move |_: &Context<'_>| {
                    done.fetch_add(1, Ordering::Release);
                });
                handle.submit(task, to).unwrap();
            }
            if round % 8 == 0 {
                // Long enough for some workers to lie down, and not for others.
                std::thread::yield_now();
            }
            wait_until(|| done.load(Ordering::Acquire) == wanted);
        }
        watched.finish();
    }
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let refused = |sizes: &[usize]| builder().groups(sizes.iter().copied()).build().unwrap_err();
    assert!(matches!(refused(&[]), BuildError::Groups(0)));
    assert!(matches!(refused(&[1; 1025]), BuildError::Groups(1025)));
    assert!(matches!(refused(&[1, 0]), BuildError::Workers(0)));
    assert!(matches!(refused(&[usize::MAX, 1]), BuildError::Workers(usize::MAX)));
    let error = refused(&[1, 65]);
    assert!(error.to_string().contains("several groups"), "{error}");
    let watched = pool(&[1, 1]);
    for to in [Placement::Group(2), Placement::GroupOnly(9)] {
        let error = watched.handle().submit(TaskRef::new(|_| ()), to).unwrap_err();
        assert!(matches!(error.refusal, Refusal::NoSuchGroup(2 | 9)), "{error}");
    }
    watched.finish();
}
