//! Settings of a runtime, and its start.
//!
//! # Safety
//!
//! Takes a promise of its callers about what lives on stacks, and does nothing unsafe itself.

use std::error::Error;
use std::ops::RangeInclusive;
use std::time::Duration;
use std::{env, fmt};

use sinew_coroutine::{DEFAULT_STACK_SIZE, LARGEST_CLASS};
use sinew_sched::BuildError;

use super::Runtime;
use crate::rt::{Engine, Settings};

/// Settings of a [`Runtime`]. What is not set comes from the environment (`SINEW_WORKERS`, and `SINEW_STACK_SIZE` in bytes), or is
/// as stated.
#[must_use = "a runtime is made by `start`"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder {
    groups: Option<Vec<usize>>,
    name: Option<String>,
    stack_size: Option<usize>,
    max_fibers: Option<usize>,
    prewarm: usize,
    migrates: bool,
    no_panic_hook: bool,
    stall_report: Option<Option<Duration>>,
}

/// The most workers that a pool has.
const MOST_WORKERS: usize = 64;

/// Why a runtime did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The workers did not start.
    Workers(BuildError),
    /// A variable of the environment makes no sense: its name, its value, and the numbers that do.
    Environment(&'static str, String, RangeInclusive<usize>),
    /// No stack is so large as all were to be.
    StackSize(usize),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(error) => write!(f, "{error}"),
            Self::Environment(name, value, numbers) => {
                let (least, most) = (numbers.start(), numbers.end());
                write!(
                    f,
                    "{name} is {value:?} in the environment: set it to a number from {least} to {most}, or not at all"
                )
            }
            Self::StackSize(size) => {
                write!(f, "stacks of {size} bytes were asked for: the largest has {LARGEST_CLASS}")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Workers(error) => Some(error),
            Self::Environment(..) | Self::StackSize(_) => None,
        }
    }
}

impl RuntimeBuilder {
    /// How many workers, in one group: 1 to 64; as many as the process has CPUs unless set.
    pub fn workers(self, workers: usize) -> Self {
        self.groups([workers])
    }

    /// Workers in several groups, so many in each: 1 to 64. A group has queues of its own; between groups fibers that have not begun
    /// go only when one has more than it can do.
    pub fn groups(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.groups = Some(sizes.into_iter().collect());
        self
    }

    /// What the threads are called: `sinew` unless set, with the worker's number behind it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How much stack a fiber has, in bytes, unless it is made with another: 128 KiB unless set, double that in debug builds; 64 MiB
    /// at most.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// How many fibers there may be at a time, those included that have not begun; no limit unless set. One that is abandoned at
    /// a shutdown counts for ever.
    pub fn max_fibers(mut self, most: usize) -> Self {
        self.max_fibers = Some(most);
        self
    }

    /// How many stacks to have ready before the first fiber: a million at most.
    pub fn prewarm(mut self, stacks: usize) -> Self {
        self.prewarm = stacks;
        self
    }

    /// Lets every fiber go on at another worker after any suspension.
    ///
    /// # Safety
    ///
    /// What [`fiber::Builder::migratable`](crate::fiber::Builder::migratable) demands, in the one place where it is written, holds
    /// for every fiber of the runtime, those excepted that [`spawn_local`](crate::fiber::spawn_local) makes: they stay. A fiber in
    /// [steps](crate::fiber::spawn_steps) moves inside a step too.
    #[expect(unsafe_code, reason = "what lives on stacks is the caller's promise")]
    pub unsafe fn assume_migration_safe(mut self) -> Self {
        self.migrates = true;
        self
    }

    /// Leaves the panic hook alone. Unless this is called for the first runtime of a process, and for all others, the hook is
    /// wrapped once: a panic in a fiber is told with the fiber's name, and then the hook that was there is called.
    pub fn without_panic_hook(mut self) -> Self {
        self.no_panic_hook = true;
        self
    }

    /// After how long it is told on standard error that every worker is stuck: each has run one and the same fiber for so long, which
    /// blocks its thread or computes, while others wait to run. The message names those fibers. 1 s unless set; never, if none.
    ///
    /// A time below 10 ms counts as that. It is told once for each time that it happens. If a worker is idle, or lets fibers run, it is not; nor if all fibers wait
    /// for something that never comes: a thread may still bring it.
    pub fn stall_report(mut self, after: Option<Duration>) -> Self {
        self.stall_report = Some(after);
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// If a setting makes no sense, or a thread or descriptor was not to be had. Nothing is left behind then.
    pub fn start(self) -> Result<Runtime, StartError> {
        let size = number("SINEW_STACK_SIZE", 0..=LARGEST_CLASS)?;
        let settings = Settings {
            groups: self.groups.or(number("SINEW_WORKERS", 1..=MOST_WORKERS)?.map(|workers| vec![workers])),
            name: self.name.unwrap_or_else(|| "sinew".to_owned()),
            stack_size: self.stack_size.or(size).unwrap_or(DEFAULT_STACK_SIZE).max(1),
            max_fibers: self.max_fibers,
            prewarm: self.prewarm,
            migrates: self.migrates,
            stall_report: self.stall_report.unwrap_or(Some(Duration::from_secs(1))),
            panic_hook: !self.no_panic_hook,
        };
        if settings.stack_size > LARGEST_CLASS {
            return Err(StartError::StackSize(settings.stack_size));
        }
        let (engine, pool) = Engine::start(settings).map_err(StartError::Workers)?;
        Ok(Runtime { engine, pool: Some(pool) })
    }
}

/// A number from the environment.
fn number(name: &'static str, numbers: RangeInclusive<usize>) -> Result<Option<usize>, StartError> {
    let Some(text) = env::var_os(name) else { return Ok(None) };
    let text = text.to_string_lossy();
    match text.trim().parse() {
        Ok(number) if numbers.contains(&number) => Ok(Some(number)),
        _ => Err(StartError::Environment(name, text.into_owned(), numbers)),
    }
}
