//! Models of the readiness of a descriptor: no waiter waits for ever for something that has come,
//! whichever operation takes it first, and whenever its event comes.

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::time::Instant;

use super::readiness::{Direction, Readiness, ReadyBits};
use crate::rt::model::check;
use crate::rt::{Limit, Outcome};

/// A descriptor for which the kernel has some bytes.
struct Pipe {
    readiness: Readiness,
    bytes: AtomicUsize,
}

impl Pipe {
    fn new() -> Arc<Self> {
        Arc::new(Self { readiness: Readiness::new(), bytes: AtomicUsize::new(0) })
    }

    /// Adds bytes, and reports the event.
    fn put(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.readiness.tell(ReadyBits::event(true, false, false));
    }

    /// Takes one byte, as `IoHandle::call` does. Returns false if its time limit is reached first.
    fn take(&self, mut limit: Limit) -> bool {
        let taken = loop {
            let seen = self.readiness.look();
            if seen.is_ready(Direction::Read) {
                if let Some(is_all) = self.try_take() {
                    if is_all {
                        self.readiness.unmark(Direction::Read, seen);
                    }
                    break true;
                }
                self.readiness.unmark(Direction::Read, seen);
            }
            match self.readiness.wait(Direction::Read, limit.next_wait(), seen) {
                Outcome::NotNeeded | Outcome::Woken => {}
                Outcome::TimedOut | Outcome::Stopped(_) => break false,
            }
        };
        self.readiness.pass_on(Direction::Read);
        taken
    }

    /// Returns whether a short read proves that nothing is left, or `None` if there was nothing.
    fn try_take(&self) -> Option<bool> {
        let mut bytes = self.bytes.load(Ordering::Acquire);
        while bytes != 0 {
            match self.bytes.compare_exchange(bytes, bytes - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(before) => return Some(before == 1),
                Err(now) => bytes = now,
            }
        }
        None
    }
}

/// Two bytes come one after the other, and one reader reads both.
#[test]
fn an_event_during_a_read_is_not_lost() {
    check(3, || {
        let pipe = Pipe::new();
        let other = pipe.clone();
        let writer = thread::spawn(move || {
            other.put(1);
            other.put(1);
        });
        assert!(pipe.take(Limit::NEVER));
        assert!(pipe.take(Limit::NEVER));
        writer.join().unwrap();
    });
}

/// Two bytes come with one event, and two readers wait for one each.
#[test]
fn a_reader_that_leaves_bytes_wakes_the_next() {
    check(2, || {
        let pipe = Pipe::new();
        let (one, two) = (pipe.clone(), pipe.clone());
        let readers = [one, two].map(|pipe| thread::spawn(move || assert!(pipe.take(Limit::NEVER))));
        pipe.put(2);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// One of two readers gives up at any moment: the byte goes to the other.
#[test]
fn a_reader_that_gives_up_leaves_the_rest_to_others() {
    check(2, || {
        let pipe = Pipe::new();
        let (one, two) = (pipe.clone(), pipe.clone());
        let hasty = thread::spawn(move || one.take(Limit::until(Some(Instant::now()))));
        let writer = thread::spawn(move || two.put(2));
        assert!(pipe.take(Limit::NEVER));
        hasty.join().unwrap();
        writer.join().unwrap();
    });
}

/// A closed descriptor keeps no reader waiting.
#[test]
fn a_waiter_is_woken_when_the_descriptor_is_closed() {
    check(3, || {
        let pipe = Pipe::new();
        pipe.readiness.unmark(Direction::Read, pipe.readiness.look());
        let other = pipe.clone();
        let closer = thread::spawn(move || other.readiness.close());
        let outcome = pipe.readiness.wait(Direction::Read, Limit::NEVER, pipe.readiness.look());
        assert!(matches!(outcome, Outcome::Woken | Outcome::NotNeeded));
        assert!(pipe.readiness.look().is_closed());
        closer.join().unwrap();
    });
}

/// A descriptor whose two readers want different things.
struct Mixed {
    readiness: Readiness,
    of_each: [AtomicUsize; 2],
}

impl Mixed {
    fn put(&self, kind: usize) {
        self.of_each[kind].fetch_add(1, Ordering::AcqRel);
        self.readiness.tell(ReadyBits::event(true, false, false));
    }

    fn take(&self, kind: usize) {
        let mut limit = Limit::NEVER;
        loop {
            let seen = self.readiness.look();
            if self.of_each[kind].swap(0, Ordering::AcqRel) != 0 {
                break;
            }
            self.readiness.unmark(Direction::Read, seen);
            drop(self.readiness.wait(Direction::Read, limit.next_wait(), seen));
        }
        self.readiness.pass_on(Direction::Read);
    }
}

/// What one reader cannot use, and unmarks, is still found by the other.
#[test]
fn a_reader_that_wants_something_else_hides_nothing() {
    check(1, || {
        let mixed = Arc::new(Mixed { readiness: Readiness::mixed(), of_each: Default::default() });
        let (one, two) = (mixed.clone(), mixed.clone());
        let other = thread::spawn(move || one.take(0));
        let writer = thread::spawn(move || two.put(1));
        mixed.take(1);
        mixed.put(0);
        other.join().unwrap();
        writer.join().unwrap();
    });
}

/// A descriptor that is watched, or not.
struct Homed {
    readiness: Readiness,
    kernel: Mutex<Kernel>,
}

struct Kernel {
    bytes: usize,
    is_watched: bool,
}

impl Homed {
    fn put(&self) {
        let mut kernel = self.kernel.lock().unwrap();
        kernel.bytes += 1;
        if kernel.is_watched {
            self.readiness.tell(ReadyBits::event(true, false, false));
        }
    }

    /// Returns whether there was a byte.
    fn try_take(&self) -> bool {
        let mut kernel = self.kernel.lock().unwrap();
        let has_some = kernel.bytes != 0;
        kernel.bytes = 0;
        has_some
    }

    /// Registers the descriptor. It is reported at once if it is ready.
    fn settle(&self) {
        let mut kernel = self.kernel.lock().unwrap();
        if !std::mem::replace(&mut kernel.is_watched, true) && kernel.bytes != 0 {
            self.readiness.tell(ReadyBits::event(true, false, false));
        }
    }
}

/// Its home ends when a reader has found it there, and does not wait yet. Another reader tries in
/// vain.
#[test]
fn a_reader_about_to_wait_finds_the_new_home() {
    check(2, || {
        let kernel = Mutex::new(Kernel { bytes: 0, is_watched: true });
        let homed = Arc::new(Homed { readiness: Readiness::new(), kernel });
        let (one, two) = (homed.clone(), homed.clone());
        let end = thread::spawn(move || {
            one.kernel.lock().unwrap().is_watched = false;
            one.readiness.disturb();
            let seen = one.readiness.look();
            if one.try_take() {
                // It was meant for the other reader.
                one.put();
            } else {
                one.readiness.unmark(Direction::Read, seen);
            }
            one.readiness.pass_on(Direction::Read);
        });
        let writer = thread::spawn(move || two.put());
        loop {
            let seen = homed.readiness.look();
            if homed.try_take() {
                break;
            }
            homed.readiness.unmark(Direction::Read, seen);
            homed.settle();
            drop(homed.readiness.wait(Direction::Read, Limit::NEVER, seen));
        }
        end.join().unwrap();
        writer.join().unwrap();
    });
}
