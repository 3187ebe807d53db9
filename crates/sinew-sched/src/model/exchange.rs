//! A task that goes back to the group's queue unannounced, in exchange for another: a reader always
//! sees one of them.

use loom::sync::Arc;
use loom::thread;

use super::{Taken, check};
use crate::queue::shared::SharedQueue;

/// The waiting task is in the list, and the one that yields goes to the ring.
fn exchange_and_look() {
    let taken = Taken::new(4);
    let queue = Arc::new(SharedQueue::new(1));
    (0..3).for_each(|number| queue.push(taken.task(number)));
    // One task of the list, and the one of the ring.
    drop([queue.take(), queue.take()]);
    let other = {
        let queue = queue.clone();
        thread::spawn(move || queue.is_empty())
    };
    queue.push(taken.task(3));
    let exchanged = queue.take_in_exchange();
    let seen_empty = other.join().unwrap();
    assert!(!seen_empty || exchanged.is_none(), "there was always a task, and it is not announced");
    drop(exchanged);
    while queue.take().is_some() {}
    taken.assert_each_once();
}

#[test]
fn no_reader_sees_the_queue_empty() {
    check(3, exchange_and_look);
}
