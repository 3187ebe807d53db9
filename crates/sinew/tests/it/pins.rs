//! Guards that outlive the fiber they are about.

use sinew::coroutine::{Coroutine, MmapStack};
use sinew::fiber;

use crate::runtimes::{finish, start};
use crate::support::watch_test_with;

#[test]
fn a_pin_may_outlive_its_fiber() {
    for kind in crate::runtimes::KINDS {
        let _watchdog = watch_test_with(format!("{kind:?}"));
        let runtime = start(1, kind);
        runtime.run(|| {
            let pins: Vec<_> = (0..100).map(|_| fiber::spawn_local(fiber::pin).join().unwrap()).collect();
            // Others take the memory that those fibers were in.
            let others = fiber::spawn_batch((0..100).map(|_| fiber::yield_now));
            drop(pins);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
        finish(runtime);
    }
}

#[test]
fn no_suspend_may_outlive_its_fiber() {
    for kind in crate::runtimes::KINDS {
        let _watchdog = watch_test_with(format!("{kind:?}"));
        let runtime = start(1, kind);
        runtime.run(|| {
            let left = (0..20).map(|_| {
                let begins = || {
                    let stack = MmapStack::new(1 << 16).unwrap();
                    let mut inside = Coroutine::<(), (), ()>::new(stack, |suspender, ()| {
                        fiber::no_suspend(|| suspender.suspend(()));
                    });
                    inside.resume(()).yielded().unwrap();
                    inside
                };
                fiber::spawn_local(begins).join().unwrap()
            });
            let left: Vec<_> = left.collect();
            let others = fiber::spawn_batch((0..20).map(|_| fiber::yield_now));
            drop(left);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
        finish(runtime);
    }
}
