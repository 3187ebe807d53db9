//! Fibers that may move, and what keeps them on their worker for one suspension.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sinew::fiber::{self, Pin};
use sinew::sync::Event;
use sinew::{Runtime, RuntimeBuilder};

use super::support::{Watched, strategies};

/// What a fiber does before it suspends, how it suspends, and what its neighbour does then.
#[derive(Clone, Copy)]
struct Scene {
    before: fn(&Arc<Event>),
    suspend: fn(&Event),
    neighbour: fn(),
}

const PLAIN: Scene = Scene { before: |_| (), suspend: |woken| woken.wait(), neighbour: || () };

/// A fiber that may move suspends, is woken, and a neighbour keeps its worker meanwhile. Returns
/// whether the fiber continues before the neighbour lets go: then it has moved to the other worker,
/// which is idle.
fn moves(builder: RuntimeBuilder, scene: Scene) -> bool {
    // SAFETY: this file's promise.
    let runtime = Watched::new(unsafe { builder.workers(2).assume_migration_safe() }.start().unwrap());
    runtime.run(move || {
        let (woken, over, is_back) =
            (Arc::new(Event::manual()), Arc::new(Event::manual()), Arc::new(AtomicBool::new(false)));
        (scene.before)(&over);
        let has_moved = begin_neighbour(scene, woken.clone(), is_back.clone());
        (scene.suspend)(&woken);
        is_back.store(true, Ordering::SeqCst);
        over.set();
        has_moved.join().unwrap()
    })
}

/// Makes the neighbour, which looks when every fiber that could run elsewhere has.
fn begin_neighbour(scene: Scene, woken: Arc<Event>, is_back: Arc<AtomicBool>) -> fiber::JoinHandle<bool> {
    let (sender, result) = sinew::channel::oneshot::channel();
    drop(fiber::spawn_local(move || {
        (scene.neighbour)();
        woken.set();
        for _ in 0..50 {
            let other = fiber::spawn(|| ());
            while !other.is_finished() {
                thread::yield_now();
            }
        }
        let _ = sender.send(is_back.load(Ordering::SeqCst));
    }));
    fiber::spawn(move || result.recv().unwrap())
}

/// Another fiber of this worker unwinds and waits in a destructor, for so long that this one runs
/// meanwhile.
fn beside_one_that_unwinds(over: &Arc<Event>) {
    struct WaitOnDrop(Arc<Event>);
    impl Drop for WaitOnDrop {
        fn drop(&mut self) {
            self.0.wait();
        }
    }
    let (_stay, waits) = (fiber::pin(), WaitOnDrop(over.clone()));
    drop(fiber::spawn_local(move || {
        let _waits = waits;
        std::panic::resume_unwind(Box::new("on its way out"));
    }));
    while !thread::panicking() {
        fiber::yield_now();
    }
}

thread_local! {
    static LEFT: RefCell<Option<Pin>> = const { RefCell::new(None) };
}

fn leave_a_pin(_: &Arc<Event>) {
    LEFT.set(Some(fiber::pin()));
}

fn check(scene: Scene, expected: bool, what: &str) {
    for strategy in strategies() {
        assert_eq!(moves(Runtime::builder().strategy(strategy), scene), expected, "{what}, {strategy}");
    }
}

#[test]
fn a_fiber_moves_while_its_neighbour_keeps_the_worker() {
    check(PLAIN, true, "a wait");
    check(Scene { suspend: |_| fiber::yield_now(), ..PLAIN }, true, "a yield");
}

#[test]
fn a_fiber_on_a_thread_that_unwinds_stays() {
    let beside = Scene { before: beside_one_that_unwinds, ..PLAIN };
    check(beside, false, "a wait");
    check(Scene { suspend: |_| fiber::yield_now(), ..beside }, false, "a yield");
    let timed = |woken: &Event| assert!(woken.wait_timeout(std::time::Duration::from_secs(60)));
    check(Scene { suspend: timed, ..beside }, false, "a timed wait");
}

#[test]
fn a_fiber_stays_though_another_one_drops_its_pin() {
    let left = Scene { before: leave_a_pin, neighbour: || drop(LEFT.take()), ..PLAIN };
    check(left, false, "a pin that was dropped while the fiber was suspended");
}

#[test]
fn a_function_that_is_called_at_a_switch_pins_nobody() {
    for strategy in strategies() {
        let builder = Runtime::builder().strategy(strategy).on_suspend(|| std::mem::forget(fiber::pin()));
        assert!(moves(builder, PLAIN), "{strategy}");
    }
}
