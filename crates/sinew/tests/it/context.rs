//! Execution contexts.

use super::support::{everywhere, pinned, quiet_panic};
use sinew::context::{Context, Key};
use sinew::coroutine::{Coroutine, CoroutineState, MmapStack};
use sinew::fiber;
use sinew::time::{Schedule, Timer};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static NUMBER: Key<u32> = Key::new();
static NAME: Key<String> = Key::new();

fn number() -> Option<u32> {
    NUMBER.get().map(|number| *number)
}

#[test]
fn values_are_found_inside() {
    fn check() {
        assert_eq!(number(), None);
        let one = Context::new().with(&NUMBER, 1);
        one.run(|| {
            assert_eq!((number(), NAME.get()), (Some(1), None));
            let both = Context::current().with(&NAME, "warp".to_owned());
            both.run(|| assert_eq!((number(), NAME.with(|name| name.map(String::len))), (Some(1), Some(4))));
            both.with(&NUMBER, 2).run(|| assert_eq!(number(), Some(2)));
            // It is instead of the one around it, not beside.
            Context::new().with(&NAME, String::new()).run(|| assert_eq!(number(), None));
            let panic = catch_unwind(|| Context::new().run(|| quiet_panic("inside")));
            assert!(panic.is_err());
            assert_eq!(number(), Some(1));
        });
        assert_eq!((number(), one.get(&NUMBER), one.get(&NAME)), (None, Some(&1), None));
    }
    everywhere(check);
    thread::spawn(check).join().unwrap();
}

#[test]
fn every_kind_of_fiber_has_it() {
    fn check(with_locals: bool) {
        Context::new().with(&NUMBER, 7).run(|| {
            assert_eq!(fiber::spawn(number).join().unwrap(), Some(7));
            let grandchild = fiber::spawn(|| fiber::spawn(number).join().unwrap());
            assert_eq!(grandchild.join().unwrap(), Some(7));
            for fiber in fiber::spawn_batch([number; 3]) {
                assert_eq!(fiber.join().unwrap(), Some(7));
            }
            let steps = fiber::spawn_steps(0, |step| {
                assert_eq!(number(), Some(7));
                *step += 1;
                if *step < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(*step) }
            });
            assert_eq!(steps.join().unwrap(), 4);
            let scoped = fiber::scope(|scope| scope.spawn(number).join().unwrap());
            assert_eq!(scoped, Some(7));
            let dispatched = fiber::Builder::new().launch(fiber::Launch::Dispatch).spawn(number);
            assert_eq!(dispatched.unwrap().join().unwrap(), Some(7));
            if with_locals {
                assert_eq!(fiber::spawn_local(number).join().unwrap(), Some(7));
            }
            assert_eq!(thread::spawn(number).join().unwrap(), None, "threads do not");
        });
        assert_eq!(fiber::spawn(number).join().unwrap(), None);
    }
    everywhere(|| check(true));
    check(false);
}

#[test]
fn a_fiber_keeps_what_was_current_where_it_was_made() {
    everywhere(|| {
        let fiber = Context::new().with(&NUMBER, 1).run(|| {
            fiber::spawn(|| {
                fiber::park();
                Context::new().with(&NUMBER, 2).run(|| assert_eq!(number(), Some(2)));
                number()
            })
        });
        Context::new().with(&NUMBER, 3).run(|| fiber.thread().unpark());
        assert_eq!(fiber.join().unwrap(), Some(1));
    });
}

#[test]
fn another_runtime_has_it_too() {
    let (here, there) = (pinned(1), Arc::new(sinew::Runtime::builder().workers(1).start().unwrap()));
    let copy = there.clone();
    let found = here.run(move || Context::new().with(&NUMBER, 5).run(|| copy.run(number)));
    assert_eq!(found, Some(5));
}

#[test]
fn neither_tokens_nor_deadlines_are_taken_along() {
    everywhere(|| {
        let token = fiber::CancelToken::new();
        token.cancel();
        let inside = || {
            Context::current().with(&NUMBER, 1).run(|| {
                assert!(fiber::checkpoint().is_err());
                fiber::spawn(|| (number(), fiber::checkpoint().is_ok(), fiber::deadline())).join().unwrap()
            })
        };
        let far = std::time::Instant::now() + Duration::from_secs(3_600);
        let found = token.run(|| fiber::with_deadline(far, inside));
        assert_eq!(found, (Some(1), true, None));
    });
}

/// Counts its drops, waits in each, and panics if it is to.
struct Loud {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Loud {
    fn drop(&mut self) {
        fiber::sleep(Duration::from_micros(20));
        self.drops.fetch_add(1, Ordering::Relaxed);
        if self.panics {
            quiet_panic("in a destructor");
        }
    }
}

static LOUD: Key<Loud> = Key::new();

#[test]
fn values_end_with_the_last_context_and_do_no_harm() {
    everywhere(|| {
        for panics in [false, true] {
            let drops = Arc::new(AtomicUsize::new(0));
            let new = || Context::new().with(&LOUD, Loud { drops: drops.clone(), panics });
            // At the end of the last fiber that has it.
            let context = new();
            let fiber = context.run(|| fiber::spawn(fiber::park));
            drop(context);
            assert_eq!(drops.load(Ordering::Relaxed), 0);
            fiber.thread().unpark();
            fiber.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), 1, "before the join returns");
            // Dropped by its owner, it panics as any other value.
            let context = new();
            context.run(fiber::yield_now);
            assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(context))).is_err(), panics);
            assert_eq!(drops.load(Ordering::Relaxed), 2);
        }
    });
}

#[test]
fn a_fiber_that_is_discarded_drops_its_values() {
    let mut runtime = pinned(1);
    let drops = Arc::new(AtomicUsize::new(0));
    let context = Context::new().with(&LOUD, Loud { drops: drops.clone(), panics: true });
    runtime.run(|| ());
    let handle = context.run(|| {
        runtime.run(|| ());
        runtime.spawn_steps((), |()| ControlFlow::<()>::Continue(()))
    });
    drop(catch_unwind(AssertUnwindSafe(|| drop(context))));
    runtime.take().shutdown(Some(Duration::ZERO));
    assert!(handle.join().unwrap_err().is::<fiber::Discarded>());
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn a_coroutine_does_not_take_its_context_along() {
    everywhere(|| {
        let _pin = fiber::pin();
        let stack = MmapStack::new(256 * 1024).unwrap();
        let mut coroutine = Coroutine::new(stack, |suspender, ()| {
            Context::new().with(&NUMBER, 1).run(|| {
                suspender.suspend(());
            });
        });
        Context::new().with(&NUMBER, 2).run(|| {
            assert!(matches!(coroutine.resume(()), CoroutineState::Yielded(())));
        });
        assert_eq!(number(), None);
        let other = fiber::spawn_local(move || {
            assert!(matches!(coroutine.resume(()), CoroutineState::Complete(())));
            number()
        });
        assert_eq!(other.join().unwrap(), None);
    });
}

#[test]
fn many_values_are_found_and_replaced() {
    static KEYS: [Key<usize>; 50] = [const { Key::new() }; 50];
    let mut context = Context::new();
    for round in 0..3 {
        for (index, key) in KEYS.iter().enumerate() {
            context = context.with(key, index + round);
        }
    }
    assert!(KEYS.iter().enumerate().all(|(index, key)| context.get(key) == Some(&(index + 2))));
    assert!(format!("{context:?}").contains("len: 50"), "none is kept twice: {context:?}");
}

/// A callback has the values of where its timer was made, however often and wherever it is armed,
/// and nothing else of that place.
#[test]
fn callbacks_have_what_was_in_force_where_their_timer_was_made() {
    fn check() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let timer = Context::new().with(&NUMBER, 3).run(|| {
            fiber::with_deadline(Instant::now(), || {
                Timer::new(move || {
                    let child = fiber::spawn(number).join().unwrap();
                    sender.send((number(), child, fiber::deadline(), fiber::checkpoint().is_ok())).unwrap();
                })
            })
        });
        for _ in 0..2 {
            Context::new().with(&NUMBER, 4).run(|| timer.arm(Schedule::after(Duration::ZERO)));
            let seen = loop {
                match receiver.try_recv() {
                    Ok(seen) => break seen,
                    Err(_) => fiber::yield_now(),
                }
            };
            assert_eq!(seen, (Some(3), Some(3), None, true));
        }
    }
    everywhere(check);
    thread::spawn(check).join().unwrap();
}

/// Panics when it is dropped.
struct PanicsAtEnd(Arc<AtomicUsize>);

impl Drop for PanicsAtEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        quiet_panic("on purpose");
    }
}

/// A panic while another one is under way would end the process.
#[test]
fn values_that_panic_when_they_are_dropped_do_so_one_by_one() {
    static ONE: Key<PanicsAtEnd> = Key::new();
    static TWO: Key<PanicsAtEnd> = Key::new();
    everywhere(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let value = || PanicsAtEnd(dropped.clone());
        let context = || Context::new().with(&ONE, value()).with(&TWO, value());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(context()))).is_err());
        let owner = context();
        let last = owner.run(|| fiber::spawn(fiber::park));
        drop(owner);
        last.thread().unpark();
        last.join().unwrap();
        let unwound = fiber::spawn({
            let context = context();
            move || {
                let _context = context;
                quiet_panic("on purpose");
            }
        });
        assert!(unwound.join().is_err());
        // A fiber has let go of its values before it is joined.
        assert_eq!(dropped.load(Ordering::Relaxed), 6);
    });
}
