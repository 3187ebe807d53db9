//! The end of a pool: a task that is submitted or deferred meanwhile is swept by one side or the
//! other.

use loom::sync::Arc;
use loom::thread;

use super::{Taken, check, fails_without};
use crate::group::Deferred;
use crate::lifecycle::{Stage, StageWord};
use crate::queue::shared::SharedQueue;
use crate::sync::Fence;

fn submit_and_end() {
    let taken = Taken::new(2);
    let shared = Arc::new((SharedQueue::new(2), Deferred::new(), StageWord::new()));
    let producers = [0, 1].map(|number| {
        let (shared, task) = (shared.clone(), taken.task(number));
        thread::spawn(move || {
            let (queue, deferred, stage) = &*shared;
            if number == 0 {
                queue.push(task);
            } else {
                deferred.put(task);
            }
            if stage.get_after_push() == Stage::Over {
                sweep(queue, deferred);
            }
        })
    });
    let (queue, deferred, stage) = &*shared;
    stage.begin_drain();
    stage.end();
    sweep(queue, deferred);
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    taken.assert_each_once();
}

fn sweep(queue: &SharedQueue, deferred: &Deferred) {
    while let Some(task) = queue.take().or_else(|| deferred.take()) {
        drop(task);
    }
}

#[test]
fn no_task_stays_behind() {
    check(3, submit_and_end);
}

#[test]
fn it_fails_without_the_producers_fence() {
    assert!(fails_without(Fence::Submit, 3, submit_and_end));
}

#[test]
fn it_fails_without_the_enders_fence() {
    assert!(fails_without(Fence::End, 3, submit_and_end));
}
