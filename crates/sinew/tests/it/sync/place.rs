//! Places in line: a cancel that is kept off does not cost the one that it was meant for its own.

use super::super::support::pinned;
use sinew::fiber::{self, CancelToken};
use sinew::sync::{BlockingQueue, Semaphore, mpsc};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Three wait in line, the first and the second of them are cancelled behind a shield, and all are
/// served in turn.
fn keeps_its_place<F>(wait: F, serve: impl FnOnce())
where
    F: Fn(usize) + Clone + Send + 'static,
{
    let log = Arc::new(Mutex::new(Vec::new()));
    let waiters = [0, 1, 2].map(|number| {
        let (log, wait, has_begun) = (log.clone(), wait.clone(), Arc::new(AtomicBool::new(false)));
        let flag = has_begun.clone();
        let waiter = fiber::spawn(move || {
            flag.store(true, Ordering::Relaxed);
            // Shielded from the fiber's own cancellation, and open to that of the token.
            fiber::shield(|| CancelToken::new().run(|| wait(number)));
            log.lock().unwrap().push(number);
        });
        // There is one worker: one that has begun waits when this goes on.
        while !has_begun.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        waiter
    });
    waiters[..2].iter().for_each(fiber::JoinHandle::cancel);
    // They wait again after this.
    (0..9).for_each(|_| fiber::yield_now());
    serve();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn in_a_semaphore() {
    pinned(1).run(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let copy = semaphore.clone();
        let wait = move |_| copy.acquire_cancellable().unwrap().unwrap().forget();
        keeps_its_place(wait, || (0..3).for_each(|_| semaphore.release(1)));
    });
}

#[test]
fn in_a_channel() {
    pinned(1).run(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(9).unwrap();
        let wait = move |number| sender.send_cancellable(number).unwrap();
        keeps_its_place(wait, || assert_eq!(receiver.iter().take(4).collect::<Vec<_>>(), [9, 0, 1, 2]));
    });
}

#[test]
fn in_a_queue() {
    pinned(1).run(|| {
        let queue = Arc::new(BlockingQueue::new(1));
        queue.push(9).unwrap();
        let copy = queue.clone();
        let wait = move |number| copy.push_cancellable(number).unwrap().unwrap();
        keeps_its_place(wait, || {
            [9, 0, 1, 2].into_iter().for_each(|expected| assert_eq!(queue.pop(), Ok(expected)));
        });
    });
}
