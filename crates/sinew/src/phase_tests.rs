//! Tests of operations that wait more than once. The test forbids the fiber to suspend between two
//! waits, which no public call can do. The operation must end as if nothing had happened:
//! `docs/design/0004-fibers.md`, invariant 7.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::channel::{self, Select, broadcast, oneshot};
use crate::fiber::{self, JoinHandle};
use crate::rt::{Poke, Status};
use crate::sync::{Barrier, Condvar, Event, Mutex, RwLock, Semaphore};
use crate::{Runtime, io, net};

/// A fiber that runs an operation, on a runtime with one worker.
struct Stage<T> {
    runtime: Runtime,
    fiber: JoinHandle<T>,
}

impl<T: Send + 'static> Stage<T> {
    /// Starts the operation, and forbids the fiber to suspend once it waits.
    fn begin(operation: impl FnOnce() -> T + Send + 'static) -> Self {
        let runtime = Runtime::builder().workers(1).start().unwrap();
        let fiber = runtime.spawn(operation);
        let stage = Self { runtime, fiber };
        stage.until_waiting(1);
        stage.fiber.thread().inner().control().unwrap().forbid_suspend();
        stage
    }

    /// Returns when the fiber is in this wait, or a later one.
    fn until_waiting(&self, number: u64) {
        let block = self.fiber.thread().inner().control().unwrap();
        let is_waiting = || block.word.waits() >= number && block.status() == Status::Parked;
        until(|| is_waiting() || self.fiber.is_finished());
    }

    /// Ends the first wait with a spurious wake-up, so that there is a second wait.
    fn poke(&self) {
        let block = self.fiber.thread().inner().control().unwrap();
        until(|| {
            self.fiber.thread().inner().poke();
            block.word.waits() >= 2 || self.fiber.is_finished()
        });
        self.until_waiting(2);
    }

    /// Calls `change` while the worker runs another fiber.
    fn while_busy(&self, change: impl FnOnce()) {
        let (is_busy, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let flags = (is_busy.clone(), is_over.clone());
        let busy = self.runtime.spawn(move || {
            flags.0.store(true, Ordering::Release);
            while !flags.1.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        });
        until(|| is_busy.load(Ordering::Acquire));
        change();
        is_over.store(true, Ordering::Release);
        busy.join().unwrap();
    }

    /// Returns the result of the operation, which the caller has let end.
    fn end(self) -> T {
        let result = self.fiber.join().expect("no wait of the operation panics");
        assert!(self.runtime.shutdown(None).drained);
        result
    }
}

fn until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "the fiber does not wait");
        std::thread::yield_now();
    }
}

#[test]
fn a_condvar_takes_its_mutex_again() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let both = pair.clone();
    let stage = Stage::begin(move || {
        let guard = both.0.lock().unwrap();
        let mut guard = both.1.wait(guard).unwrap();
        *guard += 1;
        *guard
    });
    let mut guard = pair.0.lock().unwrap();
    pair.1.notify_one();
    stage.until_waiting(2);
    *guard = 10;
    drop(guard);
    assert_eq!(stage.end(), 11);
}

#[test]
fn a_mutex_that_another_took_is_waited_for_again() {
    let mutex = Arc::new(Mutex::new(0));
    let mut guard = Some(mutex.lock().unwrap());
    let other = mutex.clone();
    let stage = Stage::begin(move || *other.lock().unwrap());
    stage.while_busy(|| {
        // Wakes the fiber, which cannot take the mutex before it is locked again.
        drop(guard.take());
        guard = Some(mutex.lock().unwrap());
    });
    stage.until_waiting(2);
    **guard.as_mut().unwrap() = 5;
    drop(guard);
    assert_eq!(stage.end(), 5);
    assert!(mutex.try_lock().is_ok(), "nothing was handed over in vain");
}

#[test]
fn a_rwlock_that_another_took_is_waited_for_again() {
    for is_writer in [false, true] {
        let lock = Arc::new(RwLock::new(0));
        let mut guard = Some(lock.write().unwrap());
        let other = lock.clone();
        let stage = Stage::begin(move || match is_writer {
            true => *other.write().unwrap(),
            false => *other.read().unwrap(),
        });
        stage.while_busy(|| {
            drop(guard.take());
            guard = Some(lock.write().unwrap());
        });
        stage.until_waiting(2);
        **guard.as_mut().unwrap() = 5;
        drop(guard);
        assert_eq!(stage.end(), 5);
        assert!(lock.try_write().is_ok(), "nothing was handed over in vain");
    }
}

#[test]
fn a_receiver_waits_for_the_message_it_was_promised() {
    type Receive = fn(&channel::Receiver<u32>) -> u32;
    let selects: Receive = |receiver| {
        let (_other, never) = channel::bounded::<u32>(0);
        let mut select = Select::new();
        select.recv(&never);
        select.recv(receiver);
        select.select().recv(receiver).unwrap()
    };
    for receive in [(|receiver| receiver.recv().unwrap()) as Receive, selects] {
        let (sender, receiver) = channel::bounded::<u32>(0);
        let stage = Stage::begin(move || receive(&receiver));
        let mut select = Select::new();
        select.send(&sender);
        // Not before the receiver is in its queue: a receiver that must not wait accepts no promise
        // from then on.
        let operation = loop {
            match select.try_select() {
                Ok(operation) => break operation,
                Err(_) => std::thread::yield_now(),
            }
        };
        stage.until_waiting(2);
        operation.send(&sender, 7).unwrap();
        assert_eq!(stage.end(), 7);
    }
}

#[test]
fn a_barrier_whose_completion_runs_is_waited_for_beyond_the_time() {
    let (has_begun, may_end) = (Arc::new(Event::manual()), Arc::new(Event::manual()));
    let (begins, ends) = (has_begun.clone(), may_end.clone());
    let barrier = Arc::new(Barrier::with_completion(2, move || {
        begins.set();
        ends.wait();
    }));
    let (other, begun) = (barrier.clone(), has_begun.clone());
    let stage = Stage::begin(move || {
        let time = Duration::from_millis(200);
        let result = other.wait_timeout(time);
        // On a slow machine, the time was over before the other fiber arrived.
        (result.is_some(), begun.is_set())
    });
    std::thread::scope(|scope| {
        scope.spawn(|| barrier.wait_timeout(Duration::from_secs(60)));
        until(|| has_begun.is_set() || stage.fiber.is_finished());
        if has_begun.is_set() {
            stage.until_waiting(2);
        }
        may_end.set();
        let _ = barrier.wait_timeout(Duration::ZERO);
    });
    let (is_through, has_begun) = stage.end();
    assert_eq!(is_through, has_begun);
}

/// Wakes a waiting operation spuriously, and then fulfils it: the operation must have continued to
/// wait.
fn goes_on<F: FnOnce() -> u32 + Send + 'static>(name: &str, operation: F, fulfil: impl FnOnce()) {
    let stage = Stage::begin(operation);
    stage.poke();
    fulfil();
    assert_eq!(stage.end(), 1, "{name}");
}

#[test]
fn cancellable_waits_continue_after_a_spurious_wake_up() {
    let event = Arc::new(Event::manual());
    let signal = event.clone();
    goes_on("event", move || signal.wait_cancellable().map_or(0, |()| 1), || event.set());
    let semaphore = Arc::new(Semaphore::new(0));
    let permits = semaphore.clone();
    let acquire = move || permits.acquire_cancellable().map_or(0, |permit| u32::from(permit.is_ok()));
    goes_on("semaphore", acquire, || semaphore.release(1));
    let ended = Arc::new(Event::manual());
    let end = ended.clone();
    let join = move || {
        let other = Runtime::builder().workers(1).start().unwrap();
        let result = other.spawn(move || end.wait()).join_cancellable().map_or(0, |_| 1);
        drop(other);
        result
    };
    goes_on("join", join, || ended.set());
    let (mut reader, mut writer) = io::pipe().unwrap();
    let read = move || reader.read(&mut [0]).unwrap() as u32;
    goes_on("pipe", read, move || writer.write_all(b"x").unwrap());
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accept = move || listener.accept().map_or(0, |_| 1);
    goes_on("listener", accept, move || drop(std::net::TcpStream::connect(address).unwrap()));
    let sleep = || fiber::sleep_cancellable(Duration::from_millis(100)).map_or(0, |()| 1);
    goes_on("sleep", sleep, || ());
}

#[test]
fn channel_waits_continue_after_a_spurious_wake_up() {
    let (one, mut one_end) = oneshot::channel::<u32>();
    goes_on("oneshot", move || one_end.recv_cancellable().unwrap().unwrap(), || one.send(1).unwrap());
    let (many, mut many_end) = broadcast::channel::<u32>(4);
    let receive = move || many_end.recv_cancellable().unwrap().unwrap();
    goes_on("broadcast", receive, || assert_eq!(many.send(1), Ok(1)));
    let (sender, receiver) = channel::bounded::<u32>(0);
    goes_on("rendezvous", move || receiver.recv_cancellable().unwrap().unwrap(), || sender.send(1).unwrap());
    let (full, full_end) = channel::bounded::<u32>(1);
    full.send(1).unwrap();
    let select = move || {
        let mut select = Select::new();
        select.send(&full);
        select.select_cancellable().unwrap().send(&full, 2).map_or(0, |()| 1)
    };
    goes_on("select", select, || assert_eq!(full_end.recv(), Ok(1)));
}
