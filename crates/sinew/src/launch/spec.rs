//! The settings of a program, and starting an engine with them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sinew_coroutine::{DEFAULT_STACK_SIZE, LARGEST_CLASS, SMALLEST_CLASS};
use sinew_sched::Pool;

use super::config::Config;
use super::environment::{self, MOST_GROUPS, MOST_WORKERS};
use super::error::StartError;
use super::layout;
use super::unended;
use crate::rt::{Engine, EngineSettings, HostSettings, SwitchHooks};

/// The settings of a program. The others come from the environment, or have the default that the
/// builder of runtimes states.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    pub(crate) config: Config,
    pub(crate) machine_root: Option<PathBuf>,
    pub(crate) migrates: bool,
    pub(crate) no_panic_hook: bool,
    pub(crate) switch_hooks: SwitchHooks,
}

impl Spec {
    /// Starts the engine, and returns it with its pool, which the owner keeps.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is invalid, or if a thread or descriptor could not be created.
    /// Nothing that was created before is left behind.
    pub(crate) fn start(self) -> Result<(Arc<Engine>, Pool), StartError> {
        environment::report_unknown();
        let environment = environment::config()?;
        let ignored = environment::ignored(&self.config, &environment);
        // If code plans the groups, an error is not the environment's fault.
        let variables =
            if self.config.plans_by().is_none() { environment::planning(&environment) } else { Vec::new() };
        let config = self.config.or(environment);
        check_ranges(&config)?;
        let layout = layout::choose(&config, self.machine_root).map_err(|error| match error {
            StartError::Plan(error) if !variables.is_empty() => {
                StartError::PlanFromEnvironment { error, variables }
            }
            error => error,
        })?;
        let stall_report = match config.stall_report_ms {
            None => Some(Duration::from_secs(1)),
            Some(0) => None,
            Some(milliseconds) => Some(Duration::from_millis(milliseconds)),
        };
        let settings = EngineSettings {
            layout,
            ignored,
            strategy: config.strategy.unwrap_or_default(),
            steal_within_node: config.steal_within_node,
            steal_across_nodes: config.steal_across_nodes,
            queue_capacity: config.queue_capacity,
            name: config.name.unwrap_or_else(|| "sinew".to_owned()),
            stall_report,
            panic_hook: !self.no_panic_hook,
            blocking_threads: config.blocking_threads.unwrap_or(512),
            blocking_idle: Duration::from_millis(config.blocking_idle_ms.unwrap_or(10_000)),
        };
        let fibers = HostSettings {
            stack_size: config.stack_size.unwrap_or(DEFAULT_STACK_SIZE),
            max_fibers: config.max_fibers,
            prewarm: config.prewarm.unwrap_or(0),
            migrates: self.migrates,
            switch_hooks: self.switch_hooks,
            unended: unended::payload,
        };
        Engine::start(settings, fibers).map_err(StartError::Workers)
    }
}

/// Checks the numbers that no other code checks.
///
/// # Errors
///
/// Returns an error if one is out of range.
fn check_ranges(config: &Config) -> Result<(), StartError> {
    let refused = |setting, value, wanted| Err(StartError::OutOfRange { setting, value, wanted });
    if let Some(workers) = config.workers
        && !(1..=MOST_WORKERS * MOST_GROUPS).contains(&workers)
    {
        return refused("workers", workers, "1 to 65536");
    }
    match (config.prewarm, config.max_fibers) {
        _ if config.blocking_threads == Some(0) => {
            refused("blocking_threads", 0, "1 or more, since calls that block are not made without a thread")
        }
        (Some(stacks), _) if stacks > MOST_PREWARMED => refused("prewarm", stacks, "a million at most"),
        (_, Some(0)) => refused("max_fibers", 0, "1 or more, since nothing runs without a fiber"),
        _ => check_stack_size(config.stack_size),
    }
}

/// Checks the size of stacks.
///
/// # Errors
///
/// Returns an error if no stack has that size, for example because it was given in KiB.
fn check_stack_size(size: Option<usize>) -> Result<(), StartError> {
    match size {
        Some(size) if !(SMALLEST_CLASS..=LARGEST_CLASS).contains(&size) => Err(StartError::StackSize(size)),
        _ => Ok(()),
    }
}

const MOST_PREWARMED: usize = 1_000_000;
