//! What the tests share: watched pools, counted tasks, and numbers from a seed.

use super::watchdog::Watchdog;
use sinew_sched::{
    Builder, Context, Handle, Placement, Pool, ShutdownReport, Strategy, TaskRef, WorkerState,
};
use std::any::Any;
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// The numbers of workers that most tests run over.
pub(crate) const WORKERS: [usize; 4] = [1, 2, 8, 64];

/// Returns settings of a pool, with the strategy of this test program.
pub(crate) fn builder() -> Builder {
    Pool::builder().strategy(strategy())
}

/// Most tests are in two programs: one for each strategy.
pub(crate) fn strategy() -> Strategy {
    if module_path!().starts_with("shared::") { Strategy::Shared } else { Strategy::Local }
}

/// A pool, and a thread that reports what every worker was doing if the test does not end.
pub(crate) struct Watched {
    pub(crate) pool: Option<Pool>,
    _watchdog: Watchdog,
}

impl Watched {
    pub(crate) fn new(workers: usize) -> Self {
        Self::with(builder().workers(workers).build().unwrap())
    }

    pub(crate) fn with(pool: Pool) -> Self {
        let handle = pool.handle();
        let test = thread::current().name().unwrap_or("the test").to_owned();
        let problem = move || format!("{test} hangs; the pool:\n{:#?}", handle.stats());
        Self { pool: Some(pool), _watchdog: Watchdog::with(problem) }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.pool().handle()
    }

    pub(crate) fn pool(&self) -> &Pool {
        self.pool.as_ref().expect("it is not shut down yet")
    }

    /// Shuts the pool down: all submitted tasks are done, and no thread is left.
    pub(crate) fn finish(mut self) {
        let report = self.pool.take().expect("it is not shut down yet").shutdown(None);
        assert!(report.drained, "{report:?}");
        assert_eq!(report.discarded, 0, "{report:?}");
    }

    /// Shuts the pool down, and returns any outcome. The watch continues.
    pub(crate) fn shutdown(&mut self, at_most: Option<Duration>) -> ShutdownReport {
        self.pool.take().expect("it is not shut down yet").shutdown(at_most)
    }
}

/// Waits until `is_so` returns true. If it never does, the pool's watch ends the test.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// Waits until every worker has started, found nothing, and gone to sleep.
pub(crate) fn wait_until_all_sleep(handle: &Handle) {
    wait_until(|| handle.stats().workers.iter().all(|worker| worker.state == WorkerState::Sleeping));
}

/// Waits until no worker is left.
pub(crate) fn wait_until_all_are_gone(handle: &Handle) {
    wait_until(|| handle.stats().workers.iter().all(|worker| worker.state == WorkerState::Absent));
}

/// Keeps a worker busy until the returned countdown is counted down. Returns once the worker is
/// busy.
pub(crate) fn occupy(handle: &Handle, worker: usize) -> Countdown {
    let (begun, gate) = (Countdown::new(1), Countdown::new(1));
    let (flag, opened) = (begun.clone(), gate.clone());
    let hog = TaskRef::new(move |_| {
        flag.count_down();
        opened.wait();
    });
    handle.submit(hog, Placement::Worker(worker)).unwrap();
    begun.wait();
    gate
}

/// Makes every worker run this, and waits until all of them do: until the first one returns, no
/// worker runs anything else.
pub(crate) fn on_all_workers(handle: &Handle, body: impl Fn(&Context<'_>) + Send + Sync + 'static) {
    let workers = handle.stats().workers.len();
    let (meeting, body) = (Countdown::new(workers), Arc::new(body));
    for worker in 0..workers {
        let (meeting, body) = (meeting.clone(), body.clone());
        let task = TaskRef::new(move |context| {
            meeting.count_down();
            meeting.wait();
            body(context);
        });
        handle.submit(task, Placement::Worker(worker)).unwrap();
    }
    meeting.wait();
}

/// Makes worker 0 block until another worker has run something.
pub(crate) fn block_once(handle: &Handle) {
    let done = Countdown::new(1);
    let copy = done.clone();
    let task = TaskRef::new(move |context| {
        let other = Countdown::new(1);
        context.submit(other.task());
        context.block(|| other.wait());
        copy.count_down();
    });
    handle.submit(task, Placement::Worker(0)).unwrap();
    done.wait();
}

/// Starts a thread as a pool does by default.
pub(crate) fn start_thread(name: String, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    thread::Builder::new().name(name).spawn(body).map(drop)
}

/// Panics on purpose, without calling the panic hook: see `mute.rs`.
pub(crate) fn quiet_panic(payload: impl Any + Send) -> ! {
    resume_unwind(Box::new(payload))
}

/// Panics when it is dropped; as a payload too.
pub(crate) struct Nasty;

impl Drop for Nasty {
    fn drop(&mut self) {
        if !thread::panicking() {
            quiet_panic("again, on purpose");
        }
    }
}

/// Counts tasks down, and lets threads wait for the last one.
#[derive(Clone)]
pub(crate) struct Countdown(Arc<(AtomicUsize, Mutex<bool>, Condvar)>);

impl Countdown {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new((AtomicUsize::new(count), Mutex::new(count == 0), Condvar::new())))
    }

    pub(crate) fn count_down(&self) {
        let (count, done, changed) = &*self.0;
        let before = count.fetch_sub(1, Ordering::AcqRel);
        assert_ne!(before, 0, "a task ran that was not counted");
        if before == 1 {
            *done.lock().unwrap() = true;
            changed.notify_all();
        }
    }

    pub(crate) fn left(&self) -> usize {
        self.0.0.load(Ordering::Acquire)
    }

    pub(crate) fn wait(&self) {
        let (_, done, changed) = &*self.0;
        drop(changed.wait_while(done.lock().unwrap(), |done| !*done).unwrap());
    }

    /// Returns a task that counts down when it runs, and not if it is discarded.
    pub(crate) fn task(&self) -> TaskRef {
        let this = self.clone();
        TaskRef::new(move |_| this.count_down())
    }
}

/// Counts the fates of tasks: each runs or is discarded, once.
#[derive(Clone, Default)]
pub(crate) struct Fates(Arc<FateCounts>);

#[derive(Default)]
struct FateCounts {
    made: AtomicUsize,
    ran: AtomicUsize,
    discarded: AtomicUsize,
}

/// The fate of one task, which is known when this is dropped.
struct Fate {
    fates: Fates,
    has_run: bool,
}

impl Drop for Fate {
    fn drop(&mut self) {
        let FateCounts { ran, discarded, .. } = &*self.fates.0;
        let count = if self.has_run { ran } else { discarded };
        count.fetch_add(1, Ordering::AcqRel);
    }
}

impl Fates {
    /// Returns a task that does nothing.
    pub(crate) fn task(&self) -> TaskRef {
        self.0.made.fetch_add(1, Ordering::AcqRel);
        let mut fate = Fate { fates: self.clone(), has_run: false };
        TaskRef::new(move |_| {
            // Captures all of it, so that it is dropped here.
            let fate = &mut fate;
            fate.has_run = true;
        })
    }

    pub(crate) fn ran(&self) -> usize {
        self.0.ran.load(Ordering::Acquire)
    }

    pub(crate) fn discarded(&self) -> usize {
        self.0.discarded.load(Ordering::Acquire)
    }

    /// Returns the number of tasks whose fate is not known.
    pub(crate) fn unknown(&self) -> usize {
        self.0.made.load(Ordering::Acquire) - self.ran() - self.discarded()
    }
}

/// Numbers that look random and are the same each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
