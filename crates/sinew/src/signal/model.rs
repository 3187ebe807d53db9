//! The model of what has come: no signal is forgotten, whoever notes it meanwhile.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::number::Signal;
use super::pending::Pending;
use super::set::Set;
use crate::rt::model::check;

/// A bell as the kernel has it: a count that a wait takes down to nothing.
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

/// Two handlers, of which one has the same signal twice; the checker finds it if somebody waits for ever.
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
