//! Model of the lock of a wait queue: one thread holds it at a time, and sees what the previous
//! holder did.

use loom::sync::Arc;
use loom::thread;

use super::lock::Guarded;
use crate::rt::model::check;

#[test]
fn the_lock_of_a_queue_is_one() {
    check(3, || {
        let guarded = Arc::new(Guarded::new(loom::cell::Cell::new(0)));
        let add = |guarded: &Guarded<loom::cell::Cell<u32>>| {
            let cell = guarded.lock();
            cell.set(cell.get() + 1);
        };
        let other = guarded.clone();
        let adder = thread::spawn(move || add(&other));
        add(&guarded);
        adder.join().unwrap();
        assert_eq!(guarded.lock().get(), 2);
    });
}
