//! Tests of what the scheduler knows about fibers: it spreads the fibers that stay where they begin
//! over the workers.
//!
//! # Safety
//!
//! The fibers here hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use std::time::Duration;

use super::{Runtime, RuntimeBuilder};
use crate::fiber::{self, JoinHandle, State};

const FIBERS: usize = 20;

/// Spawns fibers, and returns when all of them have begun and wait.
fn begin(runtime: &Runtime) -> Vec<JoinHandle<()>> {
    let fibers = runtime.spawn_batch([fiber::park; FIBERS]);
    while fibers.iter().any(|fiber| fiber.thread().state() != State::Parked) {
        fiber::sleep(Duration::from_micros(50));
    }
    fibers
}

/// Returns how many fibers each worker owns.
fn owned(runtime: &Runtime) -> Vec<isize> {
    runtime.engine.pool_stats().workers.iter().map(|worker| worker.owned).collect()
}

/// Returns whether the task of a fiber says that it stays where it begins.
fn settles(fiber: &JoinHandle<()>) -> bool {
    let header = format!("{:?}", fiber.thread().inner().control().unwrap().header());
    assert!(header.contains("settles: "), "{header}");
    header.contains("settles: true")
}

fn end(runtime: Runtime, fibers: Vec<JoinHandle<()>>) {
    fibers.iter().for_each(|fiber| fiber.thread().unpark());
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert!(runtime.shutdown(None).drained);
}

/// Settings with and without a function that is called at each switch: the tasks of fibers have
/// different vtables then.
fn builders() -> [RuntimeBuilder; 2] {
    [Runtime::builder(), Runtime::builder().on_suspend(|| ())].map(|builder| builder.workers(2))
}

#[test]
fn a_fiber_that_stays_is_owned_by_its_worker() {
    for builder in builders() {
        let runtime = builder.start().unwrap();
        let fibers = begin(&runtime);
        let of = |worker| fibers.iter().filter(|fiber| fiber.thread().worker() == Some(worker)).count();
        assert_eq!(owned(&runtime), [of(0).cast_signed(), of(1).cast_signed()]);
        assert!(fibers.iter().all(settles));
        end(runtime, fibers);
    }
}

#[test]
fn a_fiber_that_may_move_is_owned_by_no_worker() {
    for builder in builders() {
        // SAFETY: the promise in the file's header.
        let runtime = unsafe { builder.assume_migration_safe() }.start().unwrap();
        let fibers = begin(&runtime);
        assert_eq!(owned(&runtime), [0; 2]);
        assert!(!fibers.iter().any(settles));
        end(runtime, fibers);
    }
}
