//! The deque: each task goes to one taker, and no ring is freed while a thief uses it.

use loom::thread;

use super::{Taken, check, fails_without};
use crate::queue::deque::{Owner, Steal, Thief, deque};
use crate::sync::Fence;

const TASKS: usize = 3;

fn steal_some(thief: &Thief, times: usize) {
    for _ in 0..times {
        if let Steal::Task(task) = thief.steal() {
            drop(task);
        }
    }
}

fn pop_all(owner: &Owner) {
    while let Some(task) = owner.pop() {
        drop(task);
    }
}

/// The owner pops while a thief steals.
fn pop_and_steal() {
    let taken = Taken::new(TASKS - 1);
    let (owner, thief) = deque();
    (0..TASKS - 1).for_each(|number| owner.push(taken.task(number)));
    let other = thread::spawn(move || steal_some(&thief, 2));
    pop_all(&owner);
    other.join().unwrap();
    pop_all(&owner);
    taken.assert_each_once();
}

/// Two thieves steal while the owner takes both its newest and its oldest task.
fn two_thieves() {
    let taken = Taken::new(TASKS - 1);
    let (owner, thief) = deque();
    owner.push(taken.task(0));
    let thieves = [thief.clone(), thief].map(|thief| thread::spawn(move || steal_some(&thief, 1)));
    owner.push(taken.task(1));
    drop(owner.pop_oldest());
    drop(owner.pop());
    thieves.into_iter().for_each(|thief| thief.join().unwrap());
    pop_all(&owner);
    taken.assert_each_once();
}

/// An owner adds a task and takes its oldest in exchange, unannounced: a reader sees at least one
/// of them.
fn exchange_and_look() {
    let taken = Taken::new(TASKS - 1);
    let (owner, thief) = deque();
    owner.push(taken.task(0));
    let other = thread::spawn(move || assert_ne!(thief.len(), 0, "there is always one"));
    owner.push(taken.task(1));
    drop(owner.pop_oldest());
    other.join().unwrap();
    pop_all(&owner);
    taken.assert_each_once();
}

/// The ring is outgrown and freed while a thief steals.
fn grow_and_steal() {
    let taken = Taken::new(TASKS);
    let (owner, thief) = deque();
    owner.push(taken.task(0));
    let other = thread::spawn(move || steal_some(&thief, 2));
    (1..TASKS).for_each(|number| owner.push(taken.task(number)));
    other.join().unwrap();
    pop_all(&owner);
    taken.assert_each_once();
}

#[test]
fn each_task_goes_to_one_taker() {
    check(3, pop_and_steal);
    check(2, two_thieves);
}

#[test]
fn a_deque_is_never_seen_empty_that_is_not() {
    check(3, exchange_and_look);
}

#[test]
fn a_ring_outlives_the_thieves_in_it() {
    check(3, grow_and_steal);
}

#[test]
fn it_fails_without_the_owners_fence() {
    assert!(fails_without(Fence::Pop, 3, pop_and_steal));
}

#[test]
fn it_fails_without_the_thiefs_fence() {
    assert!(fails_without(Fence::Steal, 3, pop_and_steal));
}

#[test]
fn it_fails_without_the_fence_before_a_ring_is_freed() {
    assert!(fails_without(Fence::Retire, 3, grow_and_steal));
}
