//! The loom model of pending signals: no signal is lost, whichever thread notes it.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::number::Signal;
use super::pending::Pending;
use super::set::Set;
use crate::rt::model::check;

/// A model of the eventfd: a count that a wait resets to zero.
struct Bell {
    rung: Mutex<u32>,
    changed: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung.lock().unwrap() += 1;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while *rung == 0 {
            rung = self.changed.wait(rung).unwrap();
        }
        *rung = 0;
    }
}

/// Two handlers, one of which gets the same signal twice. A lost signal makes the last wait
/// endless, which the checker detects.
#[test]
fn every_signal_is_taken_after_it_came() {
    check(3, || {
        let bell = Bell { rung: Mutex::new(0), changed: Condvar::new() };
        let both = Arc::new((Pending::new(), bell));
        let handlers = [vec![Signal::USER1], vec![Signal::USER2, Signal::USER2]].map(|signals| {
            let both = both.clone();
            thread::spawn(move || {
                signals.iter().for_each(|signal| both.0.note(Set::of(*signal), || both.1.ring()));
            })
        });
        let mut seen = Set::default();
        while seen.len() < 2 {
            seen = seen.union(both.0.take(|| both.1.wait()));
        }
        handlers.into_iter().for_each(|handler| handler.join().unwrap());
    });
}
