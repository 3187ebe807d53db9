//! Settings from the environment. What is there and makes no sense is an error, not ignored.

use std::env;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use sinew_coroutine::LARGEST_CLASS;

use super::config::Config;
use super::error::StartError;

/// The most workers that a group has.
const MOST_WORKERS: usize = 64;

/// The most fibers that the queue of a group takes before it spills.
const LARGEST_QUEUE: usize = 1 << 24;

/// All settings that are there.
///
/// # Errors
///
/// If one makes no sense.
pub(super) fn config() -> Result<Config, StartError> {
    let config = Config {
        workers: number(WORKERS, 1..=MOST_WORKERS)?,
        groups: None,
        profile: value("SINEW_PROFILE")?,
        concurrency: number("SINEW_CONCURRENCY", 1..=usize::MAX)?,
        group_size: number("SINEW_GROUP_SIZE", 1..=MOST_WORKERS)?,
        numa: flag("SINEW_NUMA")?,
        cpus: value("SINEW_CPUS")?,
        excluded_cpus: value("SINEW_EXCLUDED_CPUS")?,
        worker_per_cpu: flag("SINEW_WORKER_PER_CPU")?,
        strategy: value("SINEW_STRATEGY")?,
        steal_within_node: number("SINEW_STEAL_WITHIN_NODE", 0..=u32::MAX)?,
        steal_across_nodes: number("SINEW_STEAL_ACROSS_NODES", 0..=u32::MAX)?,
        queue_capacity: number("SINEW_QUEUE_CAPACITY", 1..=LARGEST_QUEUE)?,
        name: None,
        stack_size: number("SINEW_STACK_SIZE", 1..=LARGEST_CLASS)?,
        max_fibers: number("SINEW_MAX_FIBERS", 1..=usize::MAX)?,
        prewarm: number("SINEW_PREWARM", 0..=1_000_000)?,
        blocking_threads: number("SINEW_BLOCKING_THREADS", 1..=usize::MAX)?,
        blocking_idle_ms: number("SINEW_BLOCKING_IDLE_MS", 0..=u64::MAX)?,
        stall_report_ms: number("SINEW_STALL_REPORT_MS", 0..=u64::MAX)?,
    };
    match config.planning().into_iter().find(|(_, is_set)| *is_set) {
        Some((setting, _)) if config.workers.is_some() => {
            Err(StartError::Contradiction { given: WORKERS, setting: variable(setting) })
        }
        _ => Ok(config),
    }
}

const WORKERS: &str = "SINEW_WORKERS";

/// The variable of a setting that says how groups are given or laid out.
fn variable(setting: &'static str) -> &'static str {
    match setting {
        "profile" => "SINEW_PROFILE",
        "concurrency" => "SINEW_CONCURRENCY",
        "group_size" => "SINEW_GROUP_SIZE",
        "numa" => "SINEW_NUMA",
        "cpus" => "SINEW_CPUS",
        "excluded_cpus" => "SINEW_EXCLUDED_CPUS",
        "worker_per_cpu" => "SINEW_WORKER_PER_CPU",
        _ => WORKERS,
    }
}

/// The variables in these settings that do not count beside others, which come first.
pub(super) fn ignored(first: &Config, environment: &Config) -> Vec<&'static str> {
    let (is_given, is_planned) = (first.gives_by().is_some(), first.plans_by().is_some());
    let planning = environment.planning().into_iter().filter(|(_, is_set)| *is_set && is_given);
    let workers = environment.workers.filter(|_| is_planned).map(|_| "workers");
    planning.map(|(setting, _)| setting).chain(workers).map(variable).collect()
}

/// The text of a variable, without what surrounds it.
fn text(name: &str) -> Option<String> {
    env::var_os(name).map(|text| text.to_string_lossy().trim().to_owned())
}

fn refused(name: &'static str, text: String, wanted: impl Display) -> StartError {
    StartError::Environment { name, value: text, wanted: format!("set it to {wanted}, or not at all") }
}

/// A number.
fn number<T: FromStr + PartialOrd + Display>(
    name: &'static str,
    numbers: RangeInclusive<T>,
) -> Result<Option<T>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if numbers.contains(&number) => Ok(Some(number)),
        _ => Err(refused(name, text, format!("a number from {} to {}", numbers.start(), numbers.end()))),
    }
}

/// Yes or no.
fn flag(name: &'static str) -> Result<Option<bool>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.as_str() {
        "1" | "on" | "true" | "yes" => Ok(Some(true)),
        "0" | "off" | "false" | "no" => Ok(Some(false)),
        _ => Err(refused(name, text, "on or off")),
    }
}

/// Anything that can be read from text; why it cannot is in the error.
fn value<T: FromStr<Err: Display>>(name: &'static str) -> Result<Option<T>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(StartError::Environment { name, value: text, wanted: error.to_string() }),
    }
}
