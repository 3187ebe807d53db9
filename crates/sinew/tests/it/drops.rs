//! Destructors of users' values that panic. Whatever holds several values drops all of them, each
//! once, and lets the first panic out; the process does not abort. std and crossbeam leak what is
//! left in a channel; a `Vec` aborts.

use super::support::{Watched, everywhere, in_child, message, pinned, stderr};
use sinew::channel::{Select, bounded, broadcast, oneshot, unbounded};
use sinew::sync::{BlockingQueue, mpsc};
use sinew::time::{Schedule, Timer};
use sinew::{Runtime, fiber};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value whose destructor panics, also while another panic unwinds.
#[derive(Debug)]
struct Bomb {
    number: usize,
    alive: Arc<AtomicUsize>,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert_ne!(self.alive.fetch_sub(1, Ordering::Relaxed), 0, "one was dropped twice");
        panic!("bomb {}", self.number);
    }
}

/// How many there are, and makes them.
#[derive(Clone, Default)]
struct Bombs(Arc<AtomicUsize>);

impl Bombs {
    fn make(&self, number: usize) -> Bomb {
        self.0.fetch_add(1, Ordering::Relaxed);
        Bomb { number, alive: self.0.clone() }
    }

    fn five(&self) -> impl Iterator<Item = Bomb> + '_ {
        (0..5).map(|number| self.make(number))
    }

    fn alive(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// The message of the panic that comes out of `body`.
fn panic_of(body: impl FnOnce()) -> String {
    message(&*catch_unwind(AssertUnwindSafe(body)).unwrap_err())
}

/// Runs a test in a process of its own, which must not abort. What the panic hook writes stays
/// there.
fn survives(name: &str, body: impl FnOnce()) {
    let output = in_child(&format!("drops::{name}"), || {
        // Without backtraces, which take long.
        std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
        body();
    });
    let told = stderr(&output);
    let last = told.lines().rev().take(20).collect::<Vec<_>>();
    assert!(output.status.success(), "{}; the last lines, newest first: {last:#?}", output.status);
}

/// Whatever `fill` makes of five values is dropped: by itself, and while another panic unwinds.
fn all_go<T>(what: &str, fill: impl Fn(&Bombs) -> T) {
    let bombs = Bombs::default();
    let container = fill(&bombs);
    assert_eq!(bombs.alive(), 5, "{what}");
    assert_eq!(panic_of(|| drop(container)), "bomb 0", "{what}");
    assert_eq!(bombs.alive(), 0, "{what}");
    let container = fill(&bombs);
    let unwinds = || {
        let _container = container;
        panic!("another one");
    };
    assert_eq!(panic_of(unwinds), "another one", "{what}");
    assert_eq!(bombs.alive(), 0, "{what}");
}

#[test]
fn what_is_left_in_a_channel_is_dropped() {
    survives("what_is_left_in_a_channel_is_dropped", || {
        everywhere(|| {
            for bound in [None, Some(5), Some(5_000)] {
                let fill = |bombs: &Bombs| {
                    let ends = bound.map_or_else(unbounded, bounded);
                    bombs.five().for_each(|bomb| ends.0.send(bomb).unwrap());
                    ends
                };
                all_go("receiver", |bombs| fill(bombs).1);
                all_go("sender, then receiver", fill);
                all_go("receiver, then sender", |bombs| {
                    let (sender, receiver) = fill(bombs);
                    (receiver, sender)
                });
            }
            all_go("an iterator, half-way", |bombs| {
                let (sender, receiver) = unbounded();
                sender.send(Err("no bomb")).unwrap();
                bombs.five().for_each(|bomb| sender.send(Ok(bomb)).unwrap());
                let mut messages = receiver.into_iter();
                assert_eq!(messages.next().unwrap().unwrap_err(), "no bomb");
                messages
            });
        });
    });
}

#[test]
fn what_is_left_in_a_channel_with_the_names_of_std_is_dropped() {
    survives("what_is_left_in_a_channel_with_the_names_of_std_is_dropped", || {
        everywhere(|| {
            all_go("without a bound", |bombs| {
                let (sender, receiver) = mpsc::channel();
                bombs.five().for_each(|bomb| sender.send(bomb).unwrap());
                receiver
            });
            all_go("with a bound", |bombs| {
                let (sender, receiver) = mpsc::sync_channel(5);
                bombs.five().for_each(|bomb| sender.send(bomb).unwrap());
                (sender, receiver.into_iter())
            });
        });
    });
}

#[test]
fn what_is_left_in_other_channels_and_queues_is_dropped() {
    survives("what_is_left_in_other_channels_and_queues_is_dropped", || {
        everywhere(|| {
            all_go("broadcast", |bombs| {
                let sender = broadcast::Sender::new(8);
                let receiver = sender.subscribe();
                bombs.five().for_each(|bomb| _ = sender.send(bomb).unwrap());
                (sender, receiver)
            });
            all_go("blocking queue", |bombs| {
                let queue = BlockingQueue::new(8);
                bombs.five().for_each(|bomb| queue.push(bomb).unwrap());
                queue
            });
            // A `Vec` drops the others while the first panic unwinds.
            all_go("oneshot", |bombs| {
                let send = |bomb| {
                    let (sender, receiver) = oneshot::channel();
                    sender.send(bomb).unwrap();
                    receiver
                };
                bombs.five().map(send).collect::<Vec<_>>()
            });
        });
    });
}

#[test]
fn results_that_nobody_wants_are_dropped() {
    survives("results_that_nobody_wants_are_dropped", || {
        everywhere(|| {
            let ended = |handles: Vec<fiber::JoinHandle<Bomb>>| {
                while !handles.iter().all(fiber::JoinHandle::is_finished) {
                    fiber::yield_now();
                }
                handles
            };
            all_go("handles", |bombs| ended(bombs.five().map(|bomb| fiber::spawn(move || bomb)).collect()));
            all_go("a batch", |bombs| ended(fiber::spawn_batch(bombs.five().map(|bomb| move || bomb))));
            // If a fiber ends after its handle was dropped, no caller gets the panic of its result.
            let bombs = Bombs::default();
            let (sender, receiver) = unbounded::<()>();
            for bomb in bombs.five() {
                let waits = receiver.clone();
                drop(fiber::spawn(move || {
                    let _ = waits.recv();
                    bomb
                }));
            }
            drop(sender);
            while bombs.alive() > 0 {
                fiber::yield_now();
            }
        });
    });
}

#[test]
fn fibers_that_are_not_made_drop_what_they_hold() {
    survives("fibers_that_are_not_made_drop_what_they_hold", || {
        for most in [1, 3] {
            let runtime = Watched::new(Runtime::builder().workers(1).max_fibers(most).start().unwrap());
            runtime.run(move || {
                let bombs = Bombs::default();
                let bodies: Vec<_> = bombs.five().map(|bomb| move || drop(bomb)).collect();
                // The body that was refused is in the error, and those after it are in what they
                // came from.
                let refused = catch_unwind(AssertUnwindSafe(|| {
                    let mut bodies = bodies.into_iter();
                    let refused = fiber::try_spawn_batch(bodies.by_ref()).unwrap_err();
                    std::mem::forget((refused, bodies));
                }));
                assert!(refused.is_ok());
                assert_eq!(bombs.alive(), 5 - (most - 1), "those that were made are dropped");
            });
        }
    });
}

/// No handle is left, so the fiber drops its result. A panic of the result's destructor counts as a
/// panic of the fiber.
#[test]
fn a_scope_panics_if_a_result_that_nobody_wants_does() {
    survives("a_scope_panics_if_a_result_that_nobody_wants_does", || {
        everywhere(|| {
            let bombs = Bombs::default();
            let told = panic_of(|| {
                fiber::scope(|scope| {
                    let (sender, receiver) = bounded::<()>(1);
                    let bomb = bombs.make(0);
                    drop(scope.spawn(move || {
                        let _ = receiver.recv();
                        bomb
                    }));
                    drop(sender);
                });
            });
            assert!(told.contains("scoped"), "{told}");
            assert_eq!(bombs.alive(), 0);
        });
    });
}

#[test]
fn a_scope_whose_fiber_panicked_drops_what_its_body_returned() {
    survives("a_scope_whose_fiber_panicked_drops_what_its_body_returned", || {
        everywhere(|| {
            let bombs = Bombs::default();
            let told = panic_of(|| {
                fiber::scope(|scope| {
                    scope.spawn(|| panic!("in the scope"));
                    bombs.make(0)
                });
            });
            assert_eq!((told.as_str(), bombs.alive()), ("a scoped fiber panicked", 0));
            // A fiber that is joined, and whose result the caller drops unused.
            let told = panic_of(|| fiber::scope(|scope| drop(scope.spawn(|| bombs.make(1)).join())));
            assert_eq!((told.as_str(), bombs.alive()), ("bomb 1", 0));
        });
    });
}

/// The first panic is that of the fiber.
#[test]
fn all_fiber_locals_are_dropped() {
    survives("all_fiber_locals_are_dropped", || {
        sinew::fiber_local! {
            static FIRST: std::cell::RefCell<Option<Bomb>> = const { std::cell::RefCell::new(None) };
            static SECOND: std::cell::RefCell<Option<Bomb>> = const { std::cell::RefCell::new(None) };
            static THIRD: std::cell::RefCell<Option<Bomb>> = const { std::cell::RefCell::new(None) };
        }
        everywhere(|| {
            let bombs = Bombs::default();
            let made = bombs.clone();
            let ended = fiber::spawn(move || {
                for (number, local) in [&FIRST, &SECOND, &THIRD].into_iter().enumerate() {
                    local.with(|local| *local.borrow_mut() = Some(made.make(number)));
                }
            });
            // The newest is the first to go.
            assert_eq!(message(&*ended.join().unwrap_err()), "bomb 2");
            assert_eq!(bombs.alive(), 0);
        });
    });
}

/// A message that was received and not taken goes before the panic about that.
#[test]
fn an_operation_that_is_not_completed_drops_its_message() {
    survives("an_operation_that_is_not_completed_drops_its_message", || {
        everywhere(|| {
            for bound in [1, 40] {
                let bombs = Bombs::default();
                let (sender, receiver) = bounded(bound);
                let other = receiver.clone();
                let select = || {
                    sender.send(bombs.make(0)).unwrap();
                    let mut select = Select::new();
                    select.recv(&receiver);
                    select.select()
                };
                let told = panic_of(|| drop(select()));
                assert!(told.contains("without completing"), "{told}");
                let told = panic_of(|| drop(select().recv(&other)));
                assert!(told.contains("wasn't selected"), "{told}");
                let unwinds = || {
                    let _selected = select();
                    panic!("another one");
                };
                assert_eq!(panic_of(unwinds), "another one");
                assert_eq!(bombs.alive(), 0);
            }
        });
    });
}

#[test]
fn functions_that_follow_fibers_are_dropped() {
    survives("functions_that_follow_fibers_are_dropped", || {
        let bombs = Bombs::default();
        let build = || {
            let follow = |builder: sinew::RuntimeBuilder, bomb: Bomb| builder.on_resume(move || _ = &bomb);
            let builder = bombs.five().fold(Runtime::builder().workers(2), follow);
            let bomb = bombs.make(5);
            builder.on_suspend(move || _ = &bomb)
        };
        assert!(panic_of(|| drop(build())).starts_with("bomb"));
        assert_eq!(bombs.alive(), 0);
        let runtime = Watched::new(build().start().unwrap());
        runtime.run(|| fiber::spawn(fiber::yield_now).join().unwrap());
        drop(runtime);
        super::support::until(|| bombs.alive() == 0, || format!("{} are left", bombs.alive()));
    });
}

/// The memory that messages were kept in is given back. Sanitizers keep it for a while, and look
/// for leaks themselves.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_channel_with_destructors_that_panic_takes_no_memory_along() {
    const ROUNDS: usize = 400;
    const LARGE: usize = 8 * 1024;
    survives("a_channel_with_destructors_that_panic_takes_no_memory_along", || {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4_096
        };
        let bombs = Bombs::default();
        let round = |bound: Option<usize>| {
            let (sender, receiver) = bound.map_or_else(unbounded, bounded);
            for number in 0..5 {
                sender.send((bombs.make(number), [number as u8; LARGE])).unwrap();
            }
            let ends = (sender, receiver);
            assert!(panic_of(|| drop(ends)).starts_with("bomb"));
        };
        (0..20).for_each(|_| [None, Some(5), Some(5_000)].into_iter().for_each(round));
        let before = resident();
        (0..ROUNDS).for_each(|_| [None, Some(5), Some(5_000)].into_iter().for_each(round));
        // A block, or a ring, for each round would be more than 16 MB.
        let grown = resident().saturating_sub(before);
        assert!(grown < ROUNDS * LARGE, "{grown} bytes");
        assert_eq!(bombs.alive(), 0);
    });
}

/// In a runtime that ends, too: fibers that have not begun hold values.
#[test]
fn fibers_that_never_begin_drop_what_they_hold() {
    survives("fibers_that_never_begin_drop_what_they_hold", || {
        let bombs = Bombs::default();
        let mut runtime = pinned(1);
        let held = bombs.clone();
        runtime.run(move || {
            for bomb in held.five() {
                drop(fiber::spawn(move || drop(bomb)));
            }
            // The worker has not come to them yet.
            assert_eq!(held.alive(), 5);
        });
        let report = runtime.take().shutdown(Some(std::time::Duration::ZERO));
        super::support::until(|| bombs.alive() == 0, || format!("{report:?}"));
    });
}

/// A detached timer drops its callback after the callback has panicked, and not while it unwinds.
#[test]
fn a_callback_that_panicked_is_dropped() {
    survives("a_callback_that_panicked_is_dropped", || {
        everywhere(|| {
            let bombs = Bombs::default();
            let (bomb, (detached, is_detached)) = (bombs.make(0), bounded(1));
            let timer = Timer::new(move || {
                is_detached.recv().unwrap();
                panic!("a callback with {:?}", &bomb);
            });
            timer.arm(Schedule::after(std::time::Duration::ZERO));
            timer.detach();
            detached.send(()).unwrap();
            while bombs.alive() > 0 {
                fiber::yield_now();
            }
        });
    });
}
