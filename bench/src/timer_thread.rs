//! A thread that keeps timers for our fibers, like the TimerWorker of tRPC-Cpp and flare. It exists
//! to be measured against timers that each worker keeps for itself; nothing else uses it.
//!
//! It is as good as it gets without sharing anything with the scheduler: a sorted map under one
//! lock, uncontended most of the time, and a thread that sleeps until the first timer.

use sinew::fiber::{self, Fiber};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Names a timer that is set.
pub(crate) type Key = (Instant, u64);

#[derive(Default)]
struct State {
    set: BTreeMap<Key, Option<Fiber>>,
    last: u64,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    earlier: Condvar,
}

/// The thread, and what it waits for.
pub(crate) struct TimerThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl TimerThread {
    pub(crate) fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let thread = thread::spawn({
            let shared = shared.clone();
            move || shared.run()
        });
        Self { shared, thread: Some(thread) }
    }

    /// Unparks the fiber at this moment, if one is given.
    pub(crate) fn set(&self, when: Instant, whom: Option<Fiber>) -> Key {
        let mut state = self.shared.lock();
        state.last += 1;
        let key = (when, state.last);
        state.set.insert(key, whom);
        if state.set.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.shared.earlier.notify_one();
        }
        key
    }

    pub(crate) fn cancel(&self, key: Key) -> bool {
        self.shared.lock().set.remove(&key).is_some()
    }

    /// Suspends the calling fiber until this moment.
    pub(crate) fn sleep_until(&self, when: Instant) {
        self.set(when, Some(fiber::current()));
        while Instant::now() < when {
            fiber::park();
        }
    }
}

impl Drop for TimerThread {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.earlier.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it does not panic");
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let now = Instant::now();
            while let Some(first) = state.set.first_entry().filter(|first| first.key().0 <= now) {
                if let Some(fiber) = first.remove() {
                    fiber.unpark();
                }
            }
            let next = state.set.first_key_value().map(|((when, _), _)| when.saturating_duration_since(now));
            state = match next {
                Some(time) => self
                    .earlier
                    .wait_timeout(state, time)
                    .map_or_else(|error| error.into_inner().0, |slept| slept.0),
                None => self.earlier.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
