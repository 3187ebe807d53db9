//! Who takes part in tests of what fibers and threads wait in: fibers of all kinds of runtimes,
//! plain threads, or both at once.

use super::support::everywhere;
use sinew::fiber;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Which fibers or threads take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crowd {
    Fibers,
    Threads,
    /// Every other member is a thread.
    Mixed,
}

impl Crowd {
    /// Runs `body` in one more member, which has this number.
    pub(crate) fn spawn<T: Send + 'static>(
        self,
        number: usize,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Member<T> {
        // What takes part is of one type for each result: the compiler has to make fibers and
        // threads of it.
        let body: Box<dyn FnOnce() -> T + Send> = Box::new(body);
        match self {
            Self::Threads => Member::Thread(thread::spawn(body)),
            Self::Mixed if number % 2 == 1 => Member::Thread(thread::spawn(body)),
            _ => Member::Fiber(fiber::spawn(body)),
        }
    }

    /// Runs `body` in `many` members, and waits until all are done. Returns their results, in
    /// order.
    pub(crate) fn all<T: Send + 'static>(
        self,
        many: usize,
        body: impl Fn(usize) -> T + Clone + Send + 'static,
    ) -> Vec<T> {
        let one = |number| {
            let body = body.clone();
            self.spawn(number, move || body(number))
        };
        let members: Vec<_> = (0..many).map(one).collect();
        members.into_iter().map(Member::join).collect()
    }
}

/// A fiber or a thread of a crowd.
pub(crate) enum Member<T> {
    Fiber(fiber::JoinHandle<T>),
    Thread(thread::JoinHandle<T>),
}

impl<T> Member<T> {
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Fiber(fiber) => fiber.is_finished(),
            Self::Thread(thread) => thread.is_finished(),
        }
    }

    /// Waits for its end. A panic of its is one of the caller's.
    pub(crate) fn join(self) -> T {
        self.try_join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Waits for its end, without holding up the worker that the caller may run on.
    pub(crate) fn try_join(self) -> thread::Result<T> {
        match self {
            Self::Fiber(fiber) => fiber.join(),
            Self::Thread(thread) => {
                while fiber::is_fiber() && !thread.is_finished() {
                    fiber::sleep(Duration::from_micros(50));
                }
                thread.join()
            }
        }
    }
}

/// Runs `body` with each kind of crowd: fibers, and both at once, in all kinds of runtimes; threads
/// without any.
pub(crate) fn in_crowds(body: impl Fn(Crowd) + Send + Sync + 'static) {
    in_threads(&body);
    let body: Arc<dyn Fn(Crowd) + Send + Sync> = Arc::new(body);
    for crowd in [Crowd::Fibers, Crowd::Mixed] {
        let body = body.clone();
        everywhere(move || body(crowd));
    }
}

/// Runs `body` on a plain thread, with threads.
pub(crate) fn in_threads(body: impl Fn(Crowd)) {
    let _watch = super::support::watch_test();
    body(Crowd::Threads);
}

/// Tests whose bodies run over std's types, by threads, and over ours, in all crowds: `sync` and
/// `thread` are of the one or the other. Where everything takes long, over ours alone.
macro_rules! as_std {
    ($($(#[$attribute:meta])* fn $name:ident($crowd:ident) $body:block)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                #[cfg(not(any(sinew_asan, sinew_tsan, target_arch = "aarch64")))]
                {
                    use ::std::{sync, thread};
                    let (_, _): (fn(), sync::atomic::AtomicBool) = (thread::yield_now, Default::default());
                    $crate::crowd::in_threads(|$crowd: $crate::crowd::Crowd| $body);
                }
                {
                    use ::sinew::{fiber as thread, sync};
                    let (_, _): (fn(), sync::atomic::AtomicBool) = (thread::yield_now, Default::default());
                    $crate::crowd::in_crowds(|$crowd: $crate::crowd::Crowd| $body);
                }
            }
        )*
    };
}
pub(crate) use as_std;
