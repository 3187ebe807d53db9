//! What the tests share: pools under watch, tasks that are counted, numbers from a seed.

use sinew_sched::{Handle, Pool, TaskRef, WorkerState};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before it counts as hanging. Generous: it is no measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// The numbers of workers that most tests run over.
pub(crate) const WORKERS: [usize; 4] = [1, 2, 8, 64];

/// A pool, and a thread that reports what every worker was doing if the test does not end.
pub(crate) struct Watched {
    pub(crate) pool: Option<Pool>,
    over: Arc<AtomicBool>,
    watch: Option<thread::JoinHandle<()>>,
}

impl Watched {
    pub(crate) fn new(workers: usize) -> Self {
        Self::with(Pool::builder().workers(workers).build().unwrap())
    }

    pub(crate) fn with(pool: Pool) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (handle, flag) = (pool.handle(), over.clone());
        let watch = thread::spawn(move || watch(&handle, &flag));
        Self { pool: Some(pool), over, watch: Some(watch) }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.pool().handle()
    }

    pub(crate) fn pool(&self) -> &Pool {
        self.pool.as_ref().expect("it is not shut down yet")
    }

    /// Shuts the pool down; all that was submitted is done, and no thread is left.
    pub(crate) fn finish(mut self) {
        let report = self.pool.take().expect("it is not shut down yet").shutdown(None);
        assert!(report.drained, "{report:?}");
        assert_eq!(report.discarded, 0, "{report:?}");
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(watch) = self.watch.take() {
            watch.thread().unpark();
            watch.join().unwrap();
        }
    }
}

fn watch(handle: &Handle, over: &AtomicBool) {
    let end = Instant::now() + PATIENCE;
    while !over.load(Ordering::Relaxed) {
        thread::park_timeout(end.saturating_duration_since(Instant::now()));
        if Instant::now() >= end {
            // Not by `eprintln!`, which the test program keeps to itself until the test ends.
            let _ = writeln!(std::io::stderr(), "the test hangs; the pool:\n{:#?}", handle.stats());
            std::process::abort();
        }
    }
}

/// Waits until every worker has started, found nothing, and gone to sleep.
pub(crate) fn wait_until_all_sleep(handle: &Handle) {
    while handle.stats().workers.iter().any(|worker| worker.state != WorkerState::Sleeping) {
        thread::yield_now();
    }
}

/// Counts tasks down, and lets threads wait for the last.
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

    /// A task that counts down when it runs; never, if it is discarded.
    pub(crate) fn task(&self) -> TaskRef {
        let this = self.clone();
        TaskRef::new(move |_| this.count_down())
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
