//! The gate of a descriptor: nobody waits for ever for what has come, whoever takes it first, and whenever the event of it comes.

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::time::Instant;

use super::gate::{Gate, Left, Turn};
use super::readiness::{Direction, ReadyEvent};
use crate::rt::model::check;
use crate::rt::{Limit, Outcome};

/// A descriptor, of which the kernel has some bytes.
struct Pipe {
    gate: Gate,
    bytes: AtomicUsize,
}

impl Pipe {
    fn new() -> Arc<Self> {
        Arc::new(Self { gate: Gate::new(), bytes: AtomicUsize::new(0) })
    }

    /// Some come, and the event of it.
    fn put(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.gate.tell(ReadyEvent::new(true, false, false));
    }

    /// Takes one, as `Source::drive` does. None, if its time was over first.
    fn take(&self, limit: Limit) -> Option<Left> {
        let mut turn = Turn::First;
        let taken = loop {
            let seen = self.gate.look();
            if seen.is_ready(Direction::Read) {
                if let Some(left) = self.try_take() {
                    if left == Left::Nothing {
                        self.gate.unmark(Direction::Read, seen);
                    }
                    break Some(left);
                }
                self.gate.unmark(Direction::Read, seen);
            }
            match self.gate.wait(Direction::Read, limit, (turn, seen)) {
                Outcome::NotNeeded | Outcome::Woken => turn = Turn::Again,
                Outcome::TimedOut | Outcome::Stopped(_) => break None,
            }
        };
        self.gate.pass_on(Direction::Read);
        taken
    }

    fn try_take(&self) -> Option<Left> {
        let mut bytes = self.bytes.load(Ordering::Acquire);
        while bytes != 0 {
            match self.bytes.compare_exchange(bytes, bytes - 1, Ordering::AcqRel, Ordering::Acquire) {
                // A short read says that nothing is left.
                Ok(1) => return Some(Left::Nothing),
                Ok(_) => return Some(Left::Perhaps),
                Err(now) => bytes = now,
            }
        }
        None
    }
}

/// Two bytes come one after the other, and one reads both.
#[test]
fn an_event_during_a_read_is_not_lost() {
    check(3, || {
        let pipe = Pipe::new();
        let other = pipe.clone();
        let writer = thread::spawn(move || {
            other.put(1);
            other.put(1);
        });
        pipe.take(Limit::NEVER).unwrap();
        pipe.take(Limit::NEVER).unwrap();
        writer.join().unwrap();
    });
}

/// Two bytes come with one event, and two wait for one each.
#[test]
fn whoever_leaves_something_wakes_the_next() {
    check(2, || {
        let pipe = Pipe::new();
        let (one, two) = (pipe.clone(), pipe.clone());
        let readers = [one, two].map(|pipe| thread::spawn(move || pipe.take(Limit::NEVER).unwrap()));
        pipe.put(2);
        readers.into_iter().for_each(|reader| drop(reader.join().unwrap()));
    });
}

/// One of two who wait gives up at any moment: the byte goes to the other.
#[test]
fn one_who_gives_up_leaves_the_rest_to_others() {
    check(2, || {
        let pipe = Pipe::new();
        let (one, two) = (pipe.clone(), pipe.clone());
        let hasty = thread::spawn(move || one.take(Limit::until(Some(Instant::now()))).is_some());
        let writer = thread::spawn(move || two.put(2));
        pipe.take(Limit::NEVER).unwrap();
        hasty.join().unwrap();
        writer.join().unwrap();
    });
}

/// What is closed keeps nobody waiting.
#[test]
fn whoever_waits_hears_of_the_end() {
    check(3, || {
        let pipe = Pipe::new();
        pipe.gate.unmark(Direction::Read, pipe.gate.look());
        let other = pipe.clone();
        let closer = thread::spawn(move || other.gate.close());
        let outcome = pipe.gate.wait(Direction::Read, Limit::NEVER, (Turn::First, pipe.gate.look()));
        assert!(matches!(outcome, Outcome::Woken | Outcome::NotNeeded));
        assert!(pipe.gate.look().is_closed());
        closer.join().unwrap();
    });
}

/// A descriptor of which one wants this and another one that.
struct Mixed {
    gate: Gate,
    of_each: [AtomicUsize; 2],
}

impl Mixed {
    fn put(&self, kind: usize) {
        self.of_each[kind].fetch_add(1, Ordering::AcqRel);
        self.gate.tell(ReadyEvent::new(true, false, false));
    }

    fn take(&self, kind: usize) {
        let mut turn = Turn::First;
        loop {
            let seen = self.gate.look();
            if self.of_each[kind].swap(0, Ordering::AcqRel) != 0 {
                break;
            }
            self.gate.unmark(Direction::Read, seen);
            drop(self.gate.wait(Direction::Read, Limit::NEVER, (turn, seen)));
            turn = Turn::Again;
        }
        self.gate.pass_on(Direction::Read);
    }
}

/// What one cannot use, and says so, is there for the other one.
#[test]
fn who_wants_something_else_hides_nothing() {
    check(1, || {
        let mixed = Arc::new(Mixed { gate: Gate::mixed(), of_each: Default::default() });
        let (one, two) = (mixed.clone(), mixed.clone());
        let other = thread::spawn(move || one.take(0));
        let writer = thread::spawn(move || two.put(1));
        mixed.take(1);
        mixed.put(0);
        other.join().unwrap();
        writer.join().unwrap();
    });
}

/// A descriptor that somebody watches, or nobody.
struct Homed {
    gate: Gate,
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
            self.gate.tell(ReadyEvent::new(true, false, false));
        }
    }

    /// Whether there was one.
    fn try_take(&self) -> bool {
        let mut kernel = self.kernel.lock().unwrap();
        let has_some = kernel.bytes != 0;
        kernel.bytes = 0;
        has_some
    }

    /// It is told of at once, if it is ready then.
    fn settle(&self) {
        let mut kernel = self.kernel.lock().unwrap();
        if !std::mem::replace(&mut kernel.is_watched, true) && kernel.bytes != 0 {
            self.gate.tell(ReadyEvent::new(true, false, false));
        }
    }
}

/// Its home ends when somebody has found it there, and does not wait yet; a third one tries in vain.
#[test]
fn who_was_about_to_wait_looks_for_another_home() {
    check(2, || {
        let kernel = Mutex::new(Kernel { bytes: 0, is_watched: true });
        let homed = Arc::new(Homed { gate: Gate::new(), kernel });
        let (one, two) = (homed.clone(), homed.clone());
        let end = thread::spawn(move || {
            one.kernel.lock().unwrap().is_watched = false;
            one.gate.disturb();
            let seen = one.gate.look();
            if one.try_take() {
                // It was meant for the other one.
                one.put();
            } else {
                one.gate.unmark(Direction::Read, seen);
            }
            one.gate.pass_on(Direction::Read);
        });
        let writer = thread::spawn(move || two.put());
        loop {
            let seen = homed.gate.look();
            if homed.try_take() {
                break;
            }
            homed.gate.unmark(Direction::Read, seen);
            homed.settle();
            drop(homed.gate.wait(Direction::Read, Limit::NEVER, (Turn::First, seen)));
        }
        end.join().unwrap();
        writer.join().unwrap();
    });
}
