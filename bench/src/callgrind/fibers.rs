//! The hot paths of fibers. Each is a function that runs its path a given number of times, on one
//! worker, so that the counts do not depend on which thread is faster.

use sinew::fiber;
use sinew::io::{Read, Write};
use sinew::os::unix::net::UnixStream;
use sinew::sync::Mutex;
use sinew::{Runtime, channel, time};
use std::sync::Arc;
use std::time::Duration;

/// A path: its name, what one operation is, and the function that does a number of operations.
pub(super) struct FiberPath {
    pub(super) name: &'static str,
    pub(super) operation: &'static str,
    run: fn(u64),
}

/// All paths of fibers.
pub(super) static ALL: [FiberPath; 10] = [
    FiberPath { name: "yield", operation: "turn of one of two fibers", run: yields },
    FiberPath { name: "park", operation: "park and unpark, both ways", run: parks },
    FiberPath { name: "spawn_join", operation: "fiber", run: spawns },
    FiberPath { name: "scope", operation: "scope with one fiber", run: scopes },
    FiberPath { name: "lock", operation: "lock and unlock", run: locks },
    FiberPath {
        name: "lock_contended",
        operation: "lock that waits, unlock, two yields",
        run: contended_locks,
    },
    FiberPath { name: "channel", operation: "round trip", run: round_trips },
    FiberPath { name: "socket", operation: "round trip, reads that wait", run: socket_round_trips },
    FiberPath {
        name: "recv_timeout",
        operation: "receive with a time limit that is not reached",
        run: recv_timeouts,
    },
    FiberPath { name: "timer_cancel", operation: "timer set and cancelled", run: timers },
];

/// Runs the path `times` times, on a runtime of its own.
pub(crate) fn go(name: &str, times: u64) -> Result<(), String> {
    let path =
        ALL.iter().find(|path| path.name == name).ok_or_else(|| format!("no path is called '{name}'"))?;
    let runtime = Runtime::builder().workers(1).start().map_err(|error| error.to_string())?;
    let run = path.run;
    runtime.run(move || run(times));
    Ok(())
}

/// Runs two fibers and waits for both.
fn both<A: Send + 'static, B: Send + 'static>(
    one: impl FnOnce() -> A + Send + 'static,
    other: impl FnOnce() -> B + Send + 'static,
) {
    let (one, other) = (fiber::spawn(one), fiber::spawn(other));
    one.join().expect("it does not panic");
    other.join().expect("it does not panic");
}

fn yields(times: u64) {
    let half = move || (0..times / 2).for_each(|_| fiber::yield_now());
    both(half, half);
}

fn parks(times: u64) {
    let caller = fiber::current();
    let other = fiber::spawn(move || {
        for _ in 0..times {
            fiber::park();
            caller.unpark();
        }
    });
    for _ in 0..times {
        other.thread().unpark();
        fiber::park();
    }
    other.join().expect("it does not panic");
}

fn spawns(times: u64) {
    (0..times).for_each(|_| fiber::spawn(|| ()).join().expect("it does not panic"));
}

fn scopes(times: u64) {
    (0..times).for_each(|_| fiber::scope(|scope| drop(scope.spawn(|| ()))));
}

fn locks(times: u64) {
    let mutex = Mutex::new(0_u64);
    (0..times).for_each(|_| *mutex.lock().expect("nothing panics") += 1);
}

/// Each fiber keeps the lock while the other one has its turn, so that each `lock` waits. A fiber
/// does not hold the lock while the other one is woken.
fn contended_locks(times: u64) {
    let mutex = Arc::new(Mutex::new(0_u64));
    let half = |mutex: Arc<Mutex<u64>>| {
        move || {
            for _ in 0..times / 2 {
                let mut value = mutex.lock().expect("nothing panics");
                fiber::yield_now();
                *value += 1;
                drop(value);
                fiber::yield_now();
            }
        }
    };
    both(half(mutex.clone()), half(mutex));
}

fn round_trips(times: u64) {
    let ((ping, pinged), (pong, ponged)) = (channel::bounded(1), channel::bounded(1));
    let asks = move || {
        for at in 0..times {
            ping.send(at).expect("the other one listens");
            ponged.recv().expect("the other one answers");
        }
    };
    both(asks, move || pinged.iter().for_each(|at: u64| pong.send(at).expect("the other one listens")));
}

fn socket_round_trips(times: u64) {
    let (mut one, mut other) = UnixStream::pair().expect("two sockets");
    let asks = move || {
        for _ in 0..times {
            one.write_all(&[1]).expect("room for a byte");
            one.read_exact(&mut [0]).expect("an answer");
        }
    };
    let answers = move || {
        while other.read(&mut [0]).is_ok_and(|count| count == 1) {
            other.write_all(&[2]).expect("room for a byte");
        }
    };
    both(asks, answers);
}

fn recv_timeouts(times: u64) {
    let ((ping, pinged), (pong, ponged)) = (channel::bounded(1), channel::bounded(1));
    let hour = Duration::from_secs(3_600);
    let asks = move || {
        for at in 0..times {
            ping.send(at).expect("the other one listens");
            ponged.recv_timeout(hour).expect("the other one answers");
        }
    };
    both(asks, move || pinged.iter().for_each(|at: u64| pong.send(at).expect("the other one listens")));
}

fn timers(times: u64) {
    (0..times).for_each(|_| assert!(time::after(Duration::from_secs(3_600), || ()).cancel()));
}
