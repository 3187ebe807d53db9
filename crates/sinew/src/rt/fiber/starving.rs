//! Fibers that are to begin and find no stack. They are deferred in the pool, and cost nothing
//! while they wait; a worker that has a stack over gives it to one of them, by name: nobody else
//! can take it on the way, and nobody tries in vain.
//!
//! # Why no stack lies unused while a fiber waits for one
//!
//! An unused stack is in the reserve that all share, in the cache of a worker, or on its way from one to the other.
//!
//! - A worker that *returns* one looks afterwards whether fibers are deferred, by one relaxed load,
//!   and gives it to one of them.
//! - The load may be too early to see the fiber. But the first fiber to be deferred has every
//!   worker told, and a worker that is told sees it from then on: whether it looks into its driver
//!   or sleeps there next, it empties its cache into the reserve. So a stack that was returned
//!   before the worker was told goes to the reserve, and one that is returned later goes to a
//!   fiber. For the second and all further fibers the workers have been told already.
//! - The reserve is looked at by the fiber's own worker once it is deferred; and for as long as
//!   fibers are deferred, every 10 ms by some worker. For as long all sleep for 10 ms at most, and
//!   look into their drivers however busy they are. That is also how memory is noticed which comes
//!   back from outside the runtime.
//!
//! What waits for a stack of one size is not kept waiting by unused ones of another: before a look ends without one, all unused
//! memory goes back to the system.
//!
//! # Safety
//!
//! Trusted with the right to run the fibers that it defers, or takes from those: it goes back
//! there, or to the scheduler with a stack.
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

/// How often somebody looks whether there is memory again.
const INTERVAL: Duration = Duration::from_millis(10);
/// After so many fibers that there was no stack for, a look ends. The next one goes on with others.
const MOST_MISSES: usize = 32;

/// Who was given a stack, and has not begun yet.
#[derive(Debug)]
pub(crate) struct Starving {
    grants: Lock<Vec<Grant>>,
    /// How many of them, for a look without the lock.
    granted: AtomicUsize,
    began: Instant,
    /// When somebody last looked whether there is memory again, in nanoseconds since it began.
    last_look: AtomicU64,
    has_reported: AtomicBool,
    /// Nobody looks at intervals: stacks are handed on by those who return them, or not at all.
    #[cfg(test)]
    pub(crate) never_looks: AtomicBool,
}

#[derive(Debug)]
struct Grant {
    /// Compared, and never followed: the fiber takes its stack when it begins or is discarded.
    fiber: NonNull<Control>,
    stack: PooledStack,
}

// SAFETY: the pointer is compared only, and a stack on which nothing runs may be used by any thread.
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

    /// The stack that a fiber was given. For whoever has the right to run it.
    #[inline]
    pub(crate) fn take_grant(&self, fiber: NonNull<Control>) -> Option<PooledStack> {
        // Relaxed: one that was given a stack was scheduled after that, and runs after it was scheduled.
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

    /// Notes that this stack is the fiber's.
    fn grant(&self, fiber: NonNull<Control>, stack: PooledStack) -> Result<(), PooledStack> {
        let mut grants = self.grants.lock();
        // Memory is what there may be none of.
        if grants.try_reserve(1).is_err() {
            return Err(stack);
        }
        grants.push(Grant { fiber, stack });
        self.granted.store(grants.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Whether nobody has looked for the interval. The caller looks now, and others do not.
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

    /// Said once.
    fn report(&self, error: &StackError) {
        if !self.has_reported.swap(true, Ordering::Relaxed) {
            // Not by `eprintln!`, which panics if nobody reads.
            let what = "sinew: a fiber has no stack to begin on";
            let _ = writeln!(stderr(), "{what} ({error}): it waits until another one ends");
        }
    }
}

/// A fiber is to begin, and there is no stack for it: it waits for one.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[cold]
pub(crate) unsafe fn wait(local: &WorkerState, control: NonNull<Control>, error: &StackError) {
    local.host().starving.report(error);
    local.counters.starved.add(1);
    // SAFETY: the right to run is a reference.
    let this = unsafe { control.as_ref() };
    if this.birth.moves == Moves::Never {
        // It is to begin here, if it ever does.
        this.set_worker(local.worker());
        if is_spare(local) {
            // Which stays for its sake.
            local.context().core().own();
        }
    }
    // SAFETY: the caller's right.
    local.context().defer(unsafe { Control::task(control) });
    feed(local);
}

/// A fiber begins here, on a stack that it was given.
pub(crate) fn has_begun(local: &WorkerState, fiber: &Control) {
    if fiber.birth.moves == Moves::Never && is_spare(local) {
        local.context().core().disown();
    }
}

fn is_spare(local: &WorkerState) -> bool {
    local.is_spare()
}

/// This worker has returned a stack.
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

/// Whether the calling worker has a reason to look into its driver.
pub(crate) fn is_watching() -> bool {
    WorkerState::current().is_some_and(is_any)
}

/// The calling worker looks into its driver. Returns how many fibers it has let begin.
pub(crate) fn look() -> usize {
    let Some(local) = WorkerState::current().filter(|local| is_any(local)) else { return 0 };
    local.flush_stacks();
    if local.host().starving.is_due() { feed(local) } else { 0 }
}

/// The calling worker is about to sleep. Returns for how long at most, if not for ever. Takes no fiber: a worker that sleeps has
/// none.
pub(crate) fn rest() -> Option<Duration> {
    let local = WorkerState::current().filter(|local| is_any(local))?;
    local.flush_stacks();
    Some(INTERVAL)
}

/// Gives stacks to fibers that wait for one, for as long as there are any. Returns to how many.
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

/// Has a fiber begin if there is a stack for it, or gives it back.
fn feed_one(source: &mut StackSource<'_>, task: TaskRef) -> Result<(), TaskRef> {
    let local = source.local;
    let control = fiber_of(task.into_raw());
    // SAFETY: every task of a host is a fiber, and the right to run it is a reference.
    let this = unsafe { control.as_ref() };
    let is_given = source.take(this.birth.stack_size).is_some_and(|stack| {
        let given = local.host().starving.grant(control, stack);
        given.map_err(|stack| local.return_stack(stack)).is_ok()
    });
    // SAFETY: the right to run it came with the task.
    let task = unsafe { Control::task(control) };
    if !is_given {
        return Err(task);
    }
    let home = if this.birth.moves == Moves::Never { Home::Worker(this.worker()) } else { this.begins() };
    local.schedule(task, home);
    Ok(())
}

/// Where stacks come from: this worker's cache, the reserve of all, the system.
struct StackSource<'a> {
    local: &'a WorkerState,
    /// All unused memory has gone back to the system.
    has_trimmed: bool,
    /// No stack of this size was to be had.
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
