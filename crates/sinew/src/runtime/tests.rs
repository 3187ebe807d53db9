//! Tests of what a runtime's engine says about its fibers, which users see only in reports.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Runtime, RuntimeBuilder};

/// Fibers are to begin and to end while a reader holds the locks, and neither does. If one did, it
/// would be counted twice or not at all, and could be freed while it is read.
#[test]
fn no_fiber_begins_or_ends_while_they_are_read() {
    // SAFETY: the fibers hold nothing of their thread.
    let moves = |builder: RuntimeBuilder| unsafe { builder.assume_migration_safe() };
    for builder in [Runtime::builder(), moves(Runtime::builder())] {
        let runtime = builder.workers(2).start().unwrap();
        let engine = runtime.site().engine().clone();
        let (running, is_over, begun) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let [running, is_over, begun] = [running, is_over, begun].map(Arc::new);
        let (starts, stops) = (running.clone(), is_over.clone());
        let ends = runtime.spawn(move || {
            starts.store(1, Ordering::Relaxed);
            while stops.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        });
        while running.load(Ordering::Relaxed) == 0 || engine.census.workers() < 2 {
            thread::yield_now();
        }
        // More than it takes them. It may take longer, and is right all the same.
        let wait = || thread::sleep(Duration::from_millis(20));
        let count = || {
            let count = begun.clone();
            let begins = runtime.spawn(move || count.store(1, Ordering::Relaxed));
            wait();
            let has_begun = begun.load(Ordering::Relaxed);
            is_over.store(1, Ordering::Relaxed);
            wait();
            (begins, ends.is_finished(), has_begun)
        };
        let (fibers, (begins, has_ended, has_begun)) = engine.census.begun(count).unwrap();
        assert_eq!((has_ended, has_begun), (false, 0));
        assert_eq!((fibers.waiting.len(), fibers.running.len()), (0, 1), "{fibers:?}");
        ends.join().unwrap();
        begins.join().unwrap();
        let (fibers, ()) = engine.census.begun(|| ()).unwrap();
        assert_eq!((fibers.waiting.len(), fibers.running.len()), (0, 0), "{fibers:?}");
        assert!(runtime.shutdown(None).drained);
    }
}
