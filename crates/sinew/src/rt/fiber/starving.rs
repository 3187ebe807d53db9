//! Fibers that are to begin and find no stack. They are deferred in the pool, and cost nothing
//! while they wait. A worker that has a spare stack gives it to one particular fiber, so that no
//! other fiber takes it on the way, and no fiber retries in vain.
//!
//! # Why no stack stays unused while a fiber waits for one
//!
//! An unused stack is in the shared reserve, in the cache of a worker, or on its way from one to
//! the other.
//!
//! - A worker that *returns* a stack then checks whether fibers are deferred, by one relaxed load,
//!   and gives the stack to one of them.
//! - The load may be too early to see the fiber. But the first deferred fiber notifies every
//!   worker, and a notified worker sees it from then on: when it next polls its driver, or sleeps
//!   there, it empties its cache into the reserve. So a stack that was returned before the
//!   notification goes to the reserve, and one that is returned later goes to a fiber. For the
//!   second and all further fibers the workers are notified already.
//! - The fiber's own worker checks the reserve once the fiber is deferred. As long as fibers are
//!   deferred, some worker checks it every 10 ms: all workers sleep for 10 ms at most, and poll
//!   their drivers however busy they are. This also notices memory that is freed outside the
//!   runtime.
//!
//! A fiber that waits for a stack of one size is not kept waiting by unused stacks of another:
//! before a check ends without a stack, all unused memory is returned to the system.
//!
//! # Safety
//!
//! Trusted with the right to run the fibers that it defers, or takes from the deferred ones: it
//! returns the right there, or passes it to the scheduler with a stack.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::io::{Write, stderr};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sinew_coroutine::{PooledStack, StackError};
use sinew_sched::TaskRef;

use super::task::fiber_of;
use super::worker_state::WorkerState;
use crate::rt::base::clock;
use crate::rt::base::sync::Lock;
use crate::rt::wait::{Control, Home, Moves};

/// How often a worker checks whether there is memory again.
const INTERVAL: Duration = Duration::from_millis(10);
/// A check ends after this number of fibers without a stack. The next check continues with other
/// fibers.
const MOST_MISSES: usize = 32;

/// The fibers that were given a stack and have not begun yet.
#[derive(Debug)]
pub(crate) struct Starving {
    grants: Lock<Vec<Grant>>,
    /// The number of grants, to be read without the lock.
    granted: AtomicUsize,
    began: Instant,
    /// When a worker last checked whether there is memory again, in nanoseconds since `began`.
    last_look: AtomicU64,
    has_reported: AtomicBool,
    /// Disables the periodic check: only a worker that returns a stack hands it on.
    #[cfg(test)]
    pub(crate) never_looks: AtomicBool,
}

#[derive(Debug)]
struct Grant {
    /// Compared, and never dereferenced: the fiber takes its stack when it begins or is discarded.
    fiber: NonNull<Control>,
    stack: PooledStack,
}

// SAFETY: the pointer is only compared, and any thread may use a stack on which nothing runs.
unsafe impl Send for Grant {}

impl Starving {
    pub(crate) fn new() -> Self {
        Self {
            grants: Lock::default(),
            granted: AtomicUsize::new(0),
            began: clock::now(),
            last_look: AtomicU64::new(0),
            has_reported: AtomicBool::new(false),
            #[cfg(test)]
            never_looks: AtomicBool::new(false),
        }
    }

    /// Takes the stack that a fiber was given. The caller has the right to run the fiber.
    #[inline]
    pub(crate) fn take_grant(&self, fiber: NonNull<Control>) -> Option<PooledStack> {
        // Relaxed: the fiber was scheduled after the grant, and runs after it was scheduled.
        if self.granted.load(Ordering::Relaxed) == 0 { None } else { self.take_grant_slow(fiber) }
    }

    #[cold]
    fn take_grant_slow(&self, fiber: NonNull<Control>) -> Option<PooledStack> {
        let mut grants = self.grants.lock();
        let index = grants.iter().position(|grant| grant.fiber == fiber)?;
        let grant = grants.swap_remove(index);
        self.granted.store(grants.len(), Ordering::Relaxed);
        Some(grant.stack)
    }

    /// Grants a stack to a fiber.
    fn grant(&self, fiber: NonNull<Control>, stack: PooledStack) -> Result<(), PooledStack> {
        let mut grants = self.grants.lock();
        // Memory may be exhausted.
        if grants.try_reserve(1).is_err() {
            return Err(stack);
        }
        grants.push(Grant { fiber, stack });
        self.granted.store(grants.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether the last check was an interval ago. If so, the caller checks now, and others
    /// do not.
    fn is_due(&self) -> bool {
        #[cfg(test)]
        if self.never_looks.load(Ordering::Relaxed) {
            return false;
        }
        let now = clock::now().saturating_duration_since(self.began).as_nanos() as u64;
        let last = self.last_look.load(Ordering::Relaxed);
        now.saturating_sub(last) >= INTERVAL.as_nanos() as u64
            && self.last_look.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Reports the error, once.
    fn report(&self, error: &StackError) {
        if !self.has_reported.swap(true, Ordering::Relaxed) {
            // `eprintln!` panics if standard error is closed.
            let what = "sinew: a fiber has no stack to begin on";
            let _ = writeln!(stderr(), "{what} ({error}): it waits until another one ends");
        }
    }
}

/// Defers a fiber that is to begin and has no stack.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[cold]
pub(crate) unsafe fn wait(local: &WorkerState, control: NonNull<Control>, error: &StackError) {
    local.host().starving.report(error);
    local.counters.starved.add(1);
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    if this.birth.moves == Moves::Never {
        // The fiber can begin only on this worker.
        this.set_worker(local.worker());
        if is_spare(local) {
            // A spare worker stays for this fiber.
            local.context().core().own();
        }
    }
    // SAFETY: the caller's right.
    local.context().defer(unsafe { Control::task(control) });
    feed(local);
}

/// Records that a fiber begins on a stack that it was given.
pub(crate) fn has_begun(local: &WorkerState, fiber: &Control) {
    if fiber.birth.moves == Moves::Never && is_spare(local) {
        local.context().core().disown();
    }
}

fn is_spare(local: &WorkerState) -> bool {
    local.is_spare()
}

/// Gives a stack to a deferred fiber. Called after this worker has returned one.
#[inline]
pub(crate) fn has_returned(local: &WorkerState) {
    if is_any(local) {
        feed(local);
    }
}

#[inline]
fn is_any(local: &WorkerState) -> bool {
    local.context().deferred() != 0
}

/// Returns whether the calling worker has a reason to poll its driver.
pub(crate) fn is_watching() -> bool {
    WorkerState::current().is_some_and(is_any)
}

/// Feeds deferred fibers while the calling worker polls its driver. Returns how many fibers it lets
/// begin.
pub(crate) fn look() -> usize {
    let Some(local) = WorkerState::current().filter(|local| is_any(local)) else { return 0 };
    local.flush_stacks();
    if local.host().starving.is_due() { feed(local) } else { 0 }
}

/// Prepares the sleep of the calling worker. Returns the longest time that it may sleep, if there
/// is a limit. Feeds no fiber: a worker that sleeps must have none.
pub(crate) fn rest() -> Option<Duration> {
    let local = WorkerState::current().filter(|local| is_any(local))?;
    local.flush_stacks();
    Some(INTERVAL)
}

/// Gives stacks to deferred fibers, as long as there are any. Returns how many fibers got one.
#[cold]
fn feed(local: &WorkerState) -> usize {
    let (mut fed, mut misses) = (0, 0);
    let mut source = StackSource { local, has_trimmed: false, too_much: usize::MAX };
    for _ in 0..local.context().deferred() {
        match local.context().attempt_deferred(|task| feed_one(&mut source, task)) {
            Some(true) => fed += 1,
            Some(false) => misses += 1,
            None => break,
        }
        if misses == MOST_MISSES {
            break;
        }
    }
    fed
}

/// Schedules a fiber if there is a stack for it, or returns its task.
fn feed_one(source: &mut StackSource<'_>, task: TaskRef) -> Result<(), TaskRef> {
    let local = source.local;
    let control = fiber_of(task.into_raw());
    // SAFETY: every task of a host is a fiber, and the right to run it includes a reference.
    let this = unsafe { control.as_ref() };
    let is_given = source.take(this.birth.stack_size).is_some_and(|stack| {
        let given = local.host().starving.grant(control, stack);
        given.map_err(|stack| local.return_stack(stack)).is_ok()
    });
    // SAFETY: the right to run the fiber came with the task.
    let task = unsafe { Control::task(control) };
    if !is_given {
        return Err(task);
    }
    let home = if this.birth.moves == Moves::Never { Home::Worker(this.worker()) } else { this.begins() };
    local.schedule(task, home);
    Ok(())
}

/// The sources of stacks: this worker's cache, the shared reserve, and the system.
struct StackSource<'a> {
    local: &'a WorkerState,
    /// Whether all unused memory was returned to the system.
    has_trimmed: bool,
    /// The smallest size of which no stack was available.
    too_much: usize,
}

impl StackSource<'_> {
    fn take(&mut self, size: usize) -> Option<PooledStack> {
        if size >= self.too_much {
            return None;
        }
        let mut stack = self.local.take_stack(size).ok();
        if stack.is_none() && !self.has_trimmed {
            self.has_trimmed = true;
            self.local.flush_stacks();
            self.local.host().stacks.trim();
            stack = self.local.take_stack(size).ok();
        }
        if stack.is_none() {
            self.too_much = size;
        }
        stack
    }
}
