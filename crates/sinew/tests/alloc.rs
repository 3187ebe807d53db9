//! That waiting allocates nothing. A program of its own, since it counts all that the process
//! allocates.
//!
//! # Safety
//!
//! Trusted with an allocator that passes everything on to the system's.
#![expect(unsafe_code, reason = "an allocator")]

use sinew::channel::{broadcast, oneshot};
use sinew::sync::{
    Barrier, BlockingQueue, Condvar, Event, Mutex, Notify, Once, ReentrantLock, RwLock, Semaphore, SeqLock,
    mpsc,
};
use sinew::work::WorkQueue;
use sinew::{Runtime, channel, fiber, select};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is up to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Two fibers do this many times, by turns or at once. What is made once, such as a timer's place,
/// is made before it counts.
fn allocates_nothing(what: &str, step: impl Fn(usize) + Clone + Send + 'static) {
    let rounds = |many: usize| {
        let both = [0, 1].map(|number| {
            let step = step.clone();
            fiber::spawn(move || {
                step(number);
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                (1..many).for_each(|_| step(number));
                ALLOCATIONS.load(Ordering::Relaxed) - before
            })
        });
        both.map(|fiber| fiber.join().unwrap())
    };
    rounds(100);
    // The other one may have begun or ended meanwhile, which is not a wait.
    let most = rounds(1_000).into_iter().max();
    assert!(most < Some(50), "{what}: {most:?} allocations in 1,000 waits");
}

/// One test, since another one at the same time would allocate too.
#[test]
fn waits_allocate_nothing() {
    // The thread that looks for stuck workers allocates, the more often the longer this takes.
    let runtime = Runtime::builder().workers(1).stall_report(None).start().unwrap();
    runtime.run(|| {
        with_locks();
        with_locks_for_readers();
        with_what_else_std_has();
        with_channels();
        with_other_channels();
        with_channels_for_many();
        with_selects();
        with_other_tools();
        with_calls_that_block();
    });
}

fn with_calls_that_block() {
    let sum = Arc::new(AtomicUsize::new(0));
    allocates_nothing("a call that blocks", move |number| {
        sinew::blocking(|| sum.fetch_add(number, Ordering::Relaxed));
    });
}

fn with_locks() {
    let mutex = Arc::new(Mutex::new(0));
    let copy = mutex.clone();
    allocates_nothing("a mutex", move |_| {
        let mut guard = copy.lock().unwrap();
        fiber::yield_now();
        *guard += 1;
    });
    allocates_nothing("a mutex with a limit", move |_| {
        let guard = mutex.try_lock_for(Duration::from_micros(1));
        fiber::yield_now();
        drop(guard);
    });
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    allocates_nothing("a condition", move |number| {
        let turn = pair.0.lock().unwrap();
        let mut turn = pair.1.wait_while(turn, |turn| *turn % 2 != number).unwrap();
        *turn += 1;
        pair.1.notify_one();
    });
}

fn with_locks_for_readers() {
    let lock = Arc::new(RwLock::new(0));
    let copy = lock.clone();
    allocates_nothing("a lock for readers and writers", move |number| {
        let (reader, writer) = if number == 0 { (copy.read().ok(), None) } else { (None, copy.write().ok()) };
        fiber::yield_now();
        drop((reader, writer));
    });
    allocates_nothing("a lock for readers and writers with a limit", move |_| {
        let guard = lock.try_write_for(Duration::from_micros(1));
        fiber::yield_now();
        drop(guard);
    });
}

fn with_what_else_std_has() {
    let lock = Arc::new(ReentrantLock::new(()));
    allocates_nothing("a lock that is taken twice", move |_| {
        let guard = lock.lock();
        fiber::yield_now();
        drop((lock.lock(), guard));
    });
    let barrier = Arc::new(Barrier::with_completion(2, || ()));
    allocates_nothing("a barrier", move |_| {
        barrier.wait();
    });
    let once = Arc::new(Once::new());
    allocates_nothing("something that is done once", move |_| {
        assert!(!once.wait_timeout(Duration::from_micros(1)));
    });
}

fn with_channels() {
    for bound in [0, 1] {
        let ends = [mpsc::sync_channel(bound), mpsc::sync_channel(bound)];
        let ends = Arc::new(ends.map(|(sender, receiver)| (sender, Mutex::new(receiver))));
        allocates_nothing("a channel", move |number| {
            if number == 0 {
                ends[0].0.send(1).unwrap();
                ends[1].1.lock().unwrap().recv().unwrap();
            } else {
                ends[0].1.lock().unwrap().recv().unwrap();
                ends[1].0.send(1).unwrap();
            }
        });
    }
}

fn with_other_channels() {
    let (_open, receiver) = oneshot::channel::<u32>();
    let (_kept, listener) = broadcast::channel::<u32>(1);
    let ends = Arc::new((Mutex::new(receiver), Mutex::new(listener)));
    allocates_nothing("a value that does not come", move |number| {
        let time = Duration::from_micros(1);
        match number {
            0 => assert!(ends.0.lock().unwrap().recv_timeout(time).is_err()),
            _ => assert!(ends.1.lock().unwrap().recv_timeout(time).is_err()),
        }
    });
    let queue = Arc::new(WorkQueue::new());
    allocates_nothing("a queue that is not stopped", move |_| {
        assert!(queue.join_timeout(Duration::from_micros(1)).is_none());
    });
}

/// Both wait for each other in turn, for a message or for room.
fn with_channels_for_many() {
    for bound in [Some(0), Some(1), Some(100_000), None] {
        let make = || bound.map_or_else(channel::unbounded, channel::bounded);
        let ends = Arc::new([make(), make()]);
        let copy = ends.clone();
        allocates_nothing("a channel for many", move |number| {
            let ((there, _), (_, back)) = (&copy[number], &copy[1 - number]);
            if number == 0 {
                there.send([1_u64; 5]).unwrap();
            }
            back.recv().unwrap();
            if number == 1 {
                there.send([2; 5]).unwrap();
            }
        });
        allocates_nothing("a channel with limits", move |number| {
            let _ = ends[number].1.recv_timeout(Duration::from_micros(1));
            let _ = bound.map(|_| ends[1].0.send_timeout([3; 5], Duration::from_micros(1)));
        });
    }
    let (sender, receiver) = channel::bounded(1);
    allocates_nothing("room in a channel", move |number| match number {
        0 => sender.send(1).unwrap(),
        _ => assert_eq!(receiver.recv(), Ok(1)),
    });
    let ticks = channel::tick(Duration::from_micros(1));
    allocates_nothing("the clock", move |_| {
        ticks.recv().unwrap();
    });
}

/// Selects from eight operations, with messages as large as may be.
fn with_selects() {
    for bound in [0, 1] {
        let ends = Arc::new([(); 8].map(|()| channel::bounded::<[u64; 5]>(bound)));
        let copy = ends.clone();
        allocates_nothing("a select", move |number| {
            let (mine, others) = (&copy[number * 4..][..4], &copy[(1 - number) * 4..][..4]);
            // One sends and waits for an answer, the other one the other way round.
            for turn in 0..2 {
                if turn == number {
                    select! {
                        send(others[0].0, [1; 5]) -> sent => sent.unwrap(),
                        recv(mine[1].1) -> _ => unreachable!(),
                    }
                } else {
                    select! {
                        recv(mine[0].1) -> got => assert_eq!(got, Ok([1; 5])),
                        recv(mine[1].1) -> _ => unreachable!(),
                        recv(mine[2].1) -> _ => unreachable!(),
                        recv(mine[3].1) -> _ => unreachable!(),
                        recv(others[1].1) -> _ => unreachable!(),
                        recv(others[2].1) -> _ => unreachable!(),
                        recv(others[3].1) -> _ => unreachable!(),
                        recv(mine[1].1) -> _ => unreachable!(),
                    }
                }
            }
        });
        allocates_nothing("a select with a limit", move |_| {
            select! {
                recv(ends[0].1) -> _ => {}
                recv(ends[1].1) -> _ => {}
                default(Duration::from_micros(1)) => {}
            }
        });
    }
}

fn with_other_tools() {
    let lock = Arc::new(SeqLock::new([0_u64; 3]));
    allocates_nothing("a value that many read", move |number| {
        let mut guard = lock.write();
        fiber::yield_now();
        guard[number] = lock.read()[number] + 1;
    });
    let semaphore = Arc::new(Semaphore::new(2));
    allocates_nothing("a semaphore", move |number| {
        let permit = semaphore.acquire_many(number + 1).unwrap();
        fiber::yield_now();
        drop(permit);
        drop(semaphore.try_acquire_many_for(3, Duration::from_micros(1)));
    });
    let events = Arc::new([(); 8].map(|()| Event::auto()));
    allocates_nothing("any of several events", move |number| {
        // One waits for half of them, and is told through one of these.
        let (mine, others) = (&events[number * 4..][..4], &events[(1 - number) * 4..][..4]);
        others[2].set();
        assert_eq!(Event::wait_any(&[&mine[0], &mine[1], &mine[2], &mine[3]]), 2);
        let _ = Event::wait_any_timeout(&[&mine[0], &mine[1], &mine[0]], Duration::from_micros(1));
    });
    let notify = Arc::new([Notify::new(), Notify::new()]);
    allocates_nothing("a notification", move |number| {
        notify[1 - number].notify_one();
        notify[number].wait();
    });
    let queue = Arc::new(BlockingQueue::new(1));
    allocates_nothing("a blocking queue", move |number| match number {
        0 => queue.push(1).unwrap(),
        _ => assert_eq!(queue.pop(), Ok(1)),
    });
}
