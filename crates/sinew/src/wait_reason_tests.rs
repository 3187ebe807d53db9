//! Tests that each wait records its reason, and its object.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{bounded, broadcast, oneshot, watch};
use crate::fiber::{self, Fiber, State};
use crate::os::unix::net::UnixStream;
use crate::rt::WaitKind;
use crate::sync::{
    Barrier, Baton, BlockingQueue, Condvar, Event, Latch, Mutex, Notify, Once, RwLock, Semaphore, WaitGroup,
};
use crate::{Runtime, work};

const LONG: Duration = Duration::from_secs(3_600);

/// Waits until a fiber waits, and returns the reason.
fn reason(fiber: &Fiber) -> (WaitKind, usize) {
    while fiber.state() != State::Parked {
        fiber::yield_now();
    }
    fiber.inner().control().expect("a fiber").reason.get()
}

/// Checks the reason for which `waits` waits; `release` ends the wait. Returns the address of the
/// object.
fn check<R: Send + 'static, Q>(
    kind: WaitKind,
    waits: impl FnOnce() -> R + Send + 'static,
    release: impl FnOnce(&Fiber) -> Q,
) -> usize {
    let waiting = fiber::spawn(waits);
    let (found, object) = reason(waiting.thread());
    assert_eq!(found, kind);
    release(waiting.thread());
    waiting.join().unwrap();
    object
}

fn is_in<T>(object: usize, value: &T) -> bool {
    let start = std::ptr::from_ref(value).addr();
    (start..start + size_of::<T>()).contains(&object)
}

fn on_a_runtime(body: impl FnOnce() + Send + 'static) {
    let runtime = Runtime::builder().workers(1).start().unwrap();
    runtime.run(body);
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn waits_of_fibers_say_why() {
    on_a_runtime(|| {
        assert_eq!(check(WaitKind::Park, fiber::park, Fiber::unpark), 0);
        let sleeper = fiber::spawn(|| fiber::sleep_cancellable(LONG));
        assert_eq!(reason(sleeper.thread()), (WaitKind::Sleep, 0));
        sleeper.cancel();
        assert!(sleeper.join().unwrap().is_err());

        let child = fiber::spawn(fiber::park);
        let child_fiber = child.thread().clone();
        reason(&child_fiber);
        let object = check(WaitKind::Join, move || child.join().unwrap(), |_| child_fiber.unpark());
        assert_eq!(object, child_fiber.inner().address().unwrap().addr().get());
        let scope = || fiber::scope(|scope| drop(scope.spawn(|| fiber::sleep(Duration::from_millis(1)))));
        assert_ne!(check(WaitKind::Scope, scope, |_| ()), 0);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        check(
            WaitKind::Blocking,
            move || crate::blocking(move || receiver.recv().unwrap_or(())),
            |_| drop(sender),
        );
    });
}

#[test]
fn waits_for_locks_say_why() {
    on_a_runtime(|| {
        let (mutex, lock) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(())));
        let (mine, guard) = (mutex.clone(), mutex.lock().unwrap());
        let object = check(WaitKind::Mutex, move || drop(mine.lock().unwrap()), |_| drop(guard));
        assert!(is_in(object, &*mutex));
        let (mine, guard) = (lock.clone(), lock.write().unwrap());
        assert!(is_in(
            check(WaitKind::RwLockRead, move || drop(mine.read().unwrap()), |_| drop(guard)),
            &*lock
        ));
        let (mine, guard) = (lock.clone(), lock.read().unwrap());
        check(WaitKind::RwLockWrite, move || drop(mine.write().unwrap()), |_| drop(guard));
        let condvar = Arc::new(Condvar::new());
        let (mine, other) = (mutex.clone(), condvar.clone());
        check(
            WaitKind::Condvar,
            move || drop(other.wait(mine.lock().unwrap()).unwrap()),
            |_| condvar.notify_one(),
        );
        let semaphore = Arc::new(Semaphore::new(0));
        let mine = semaphore.clone();
        check(WaitKind::Semaphore, move || drop(mine.acquire()), |_| semaphore.add_permits(1));
        let once = Arc::new(Once::new());
        let (inside, mine) = (once.clone(), once.clone());
        let inner = fiber::spawn(move || inside.call_once(fiber::park));
        reason(inner.thread());
        check(WaitKind::Once, move || mine.call_once(|| ()), |_| inner.thread().unpark());
        inner.join().unwrap();
        let barrier = Arc::new(Barrier::new(2));
        let mine = barrier.clone();
        check(WaitKind::Barrier, move || mine.wait(), |_| barrier.wait());
    });
}

#[test]
fn waits_for_events_say_why() {
    on_a_runtime(|| {
        let event = Arc::new(Event::auto());
        let mine = event.clone();
        check(WaitKind::Event, move || mine.wait(), |_| event.set());
        let notify = Arc::new(Notify::new());
        let mine = notify.clone();
        check(WaitKind::Notify, move || mine.wait(), |_| notify.notify_one());
        let baton = Arc::new(Baton::new());
        let mine = baton.clone();
        check(WaitKind::Baton, move || mine.wait(), |_| baton.post());
        let latch = Arc::new(Latch::new(1));
        let mine = latch.clone();
        check(WaitKind::Count, move || mine.wait(), |_| latch.count_down());
        let group = Arc::new(WaitGroup::new());
        group.add(1);
        let mine = group.clone();
        check(WaitKind::Count, move || mine.wait(), |_| group.done());
        let queue = Arc::new(BlockingQueue::new(1));
        let mine = queue.clone();
        check(WaitKind::QueuePop, move || mine.pop(), |_| queue.push(1));
        queue.push(1).unwrap();
        let mine = queue.clone();
        check(WaitKind::QueuePush, move || mine.push(2).unwrap(), |_| queue.pop());
    });
}

#[test]
fn waits_of_channels_say_why() {
    on_a_runtime(|| {
        for capacity in [0, 1] {
            let (sender, receiver) = bounded(capacity);
            let mine = receiver.clone();
            check(WaitKind::Receive, move || mine.recv(), |_| sender.send(1).unwrap());
            (0..capacity).for_each(|_| sender.send(1).unwrap());
            check(WaitKind::Send, move || sender.send(2).unwrap(), |_| receiver.recv());
        }
        let (sender, receiver) = oneshot::channel();
        check(WaitKind::Receive, move || receiver.recv(), |_| sender.send(1).unwrap());
        let (sender, receiver) = oneshot::channel::<u32>();
        check(WaitKind::Closed, move || sender.closed(), |_| drop(receiver));
        let (sender, mut receiver) = broadcast::channel(1);
        check(WaitKind::Receive, move || receiver.recv(), |_| sender.send(1));
        let (sender, mut receiver) = watch::channel(0);
        check(WaitKind::Receive, move || receiver.changed().unwrap(), |_| sender.send(1).unwrap());
        let ((one, first), (_two, second)) = (bounded::<u32>(1), bounded::<u32>(1));
        let select = move || {
            crate::select! {
                recv(first) -> _ => (),
                recv(second) -> _ => (),
            }
        };
        check(WaitKind::Select, select, |_| one.send(1).unwrap());
    });
}

#[test]
fn waits_for_descriptors_and_queues_say_why() {
    on_a_runtime(|| {
        let (mut one, two) = UnixStream::pair().unwrap();
        check(WaitKind::Readable, move || one.read(&mut [0]).unwrap(), |_| drop(two));
        let (one, two) = UnixStream::pair().unwrap();
        let fill = move || {
            use std::io::Write;
            let _ = (&one).write_all(&[0; 1 << 22]);
        };
        check(WaitKind::Writable, fill, |_| drop(two));
        let queue = work::WorkQueue::new();
        let (sender, receiver) = bounded::<()>(0);
        queue.push(move || assert!(receiver.recv().is_err())).unwrap();
        check(WaitKind::WorkQueue, move || (queue.stop(), queue.join().unwrap()), |_| drop(sender));
    });
}
