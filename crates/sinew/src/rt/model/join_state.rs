//! Model of the ending: the result has one owner, the waiter is woken once, and the block is freed
//! once, after all references are released.
//!
//! # Safety
//!
//! Trusted with cells that the checker watches.
#![expect(unsafe_code, reason = "what the protocol hands over is in cells that the checker watches")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
// The bookkeeping is not part of the protocol: the checker need not see it.
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rt::model::check;
use crate::rt::wait::join_state::{AtEnd, Ending, Reference};

/// A control block, reduced to what the protocol needs.
struct Block {
    ending: Ending,
    /// Written by the fiber before its end, read by the owner of the result.
    result: UnsafeCell<u32>,
    /// Written by the handle's owner before it waits, taken by the thread that changes that state.
    waiter: UnsafeCell<Option<u32>>,
    /// Read by all holders of a reference, and written by the thread that frees the block.
    memory: UnsafeCell<bool>,
    results: AtomicUsize,
    wakes: AtomicUsize,
    frees: AtomicUsize,
}

impl Block {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            ending: Ending::new(),
            result: UnsafeCell::new(0),
            waiter: UnsafeCell::new(None),
            memory: UnsafeCell::new(true),
            results: AtomicUsize::new(0),
            wakes: AtomicUsize::new(0),
            frees: AtomicUsize::new(0),
        })
    }

    fn touch(&self) {
        // SAFETY: the caller has a reference. The checker detects a block that is being freed.
        self.memory.with(|memory| assert!(unsafe { *memory }, "it is there"));
    }

    fn release(&self) {
        self.touch();
        if self.ending.release() {
            // SAFETY: it was the last reference. The checker detects others.
            self.memory.with_mut(|memory| unsafe { *memory = false });
            self.frees.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn take_result(&self) {
        // SAFETY: the fiber has stopped using it. The checker detects if not.
        self.result.with_mut(|result| assert_eq!(std::mem::take(unsafe { &mut *result }), 42, "it is there"));
        self.results.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the fiber. A result with a destructor is announced first.
    fn end(&self, reference: Reference, announces: bool) {
        // SAFETY: no other thread has the result before the end. The checker detects others.
        self.result.with_mut(|result| unsafe { *result = 42 });
        let is_dropped = announces && self.ending.announce();
        if is_dropped {
            self.take_result();
        }
        let end = self.ending.finish(reference);
        if end == AtEnd::Nothing {
            return;
        }
        self.touch();
        if end == AtEnd::Wake {
            // SAFETY: this thread has changed the state. The checker detects if the owner touches
            // it too.
            let waiter = self.waiter.with_mut(|waiter| unsafe { (*waiter).take() });
            assert_eq!(waiter, Some(7), "there is a waiter to wake");
            self.wakes.fetch_add(1, Ordering::Relaxed);
        }
        if end == AtEnd::DropResult && !is_dropped {
            assert!(!announces, "no announced result is dropped after the end");
            self.take_result();
        }
        self.release();
    }

    /// Announces that the owner waits. Returns whether it has to.
    fn wait(&self) -> bool {
        // SAFETY: the owner does not wait yet. The checker detects others that touch it.
        self.waiter.with_mut(|waiter| unsafe { *waiter = Some(7) });
        self.ending.wait()
    }

    fn drop_handle(&self) {
        if !self.ending.detach() {
            self.take_result();
            self.release();
        }
    }

    fn assert_over(&self, wakes: usize) {
        let counts = [&self.results, &self.frees].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [1, 1], "the result goes to one, and the block is freed once");
        assert_eq!(self.wakes.load(Ordering::Relaxed), wakes, "the waiter is woken once");
    }
}

/// Ends a fiber on another thread while the owner of its handle does something. The block is freed
/// after both.
fn against_the_end(owner: fn(&Block) -> usize) {
    for (reference, announces) in
        [Reference::GiveUp, Reference::Keep].into_iter().flat_map(|each| [(each, false), (each, true)])
    {
        check(3, move || {
            let block = Block::new();
            let other = block.clone();
            let fiber = thread::spawn(move || other.end(reference, announces));
            let wakes = owner(&block);
            fiber.join().expect("the fiber ends");
            block.assert_over(wakes);
        });
    }
}

#[test]
fn a_result_has_one_owner_when_its_handle_is_dropped() {
    against_the_end(|block| {
        block.drop_handle();
        0
    });
}

#[test]
fn an_owner_that_does_not_wait_any_more_hears_of_the_end_or_may_wait_again() {
    against_the_end(|block| {
        let is_waiting = block.wait();
        if is_waiting && block.ending.give_up() {
            // SAFETY: the waiter belongs to the owner again. The checker detects if not.
            block.waiter.with_mut(|waiter| unsafe { *waiter = None });
            block.drop_handle();
            return 0;
        }
        assert!(block.ending.is_done(), "the end has come");
        block.take_result();
        block.release();
        usize::from(is_waiting)
    });
}

#[test]
fn another_reference_keeps_the_block() {
    for announces in [false, true] {
        check(3, move || {
            let block = Block::new();
            block.ending.add_ref();
            let (fiber, other) = (block.clone(), block.clone());
            let fiber = thread::spawn(move || fiber.end(Reference::GiveUp, announces));
            let other = thread::spawn(move || other.release());
            block.drop_handle();
            fiber.join().expect("the fiber ends");
            other.join().expect("the other one lets go");
            block.assert_over(0);
        });
    }
}
