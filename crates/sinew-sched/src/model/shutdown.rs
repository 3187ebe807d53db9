//! The end: a task that is submitted or set aside while it ends is swept by one side or the other.

use loom::sync::Arc;
use loom::thread;

use super::{Taken, check, fails_without};
use crate::group::Aside;
use crate::life::{Stage, StageWord};
use crate::queue::shared::SharedQueue;
use crate::sync::Fence;

fn submit_and_end() {
    let taken = Taken::new(2);
    let shared = Arc::new((SharedQueue::new(2), Aside::new(), StageWord::new()));
    let producers = [0, 1].map(|number| {
        let (shared, task) = (shared.clone(), taken.task(number));
        thread::spawn(move || {
            let (queue, aside, stage) = &*shared;
            if number == 0 {
                queue.push(task);
            } else {
                aside.put(task);
            }
            if stage.get_after_push() == Stage::Over {
                sweep(queue, aside);
            }
        })
    });
    let (queue, aside, stage) = &*shared;
    stage.begin_drain();
    stage.end();
    sweep(queue, aside);
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    taken.assert_each_once();
}

fn sweep(queue: &SharedQueue, aside: &Aside) {
    while let Some(task) = queue.take().or_else(|| aside.take()) {
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
