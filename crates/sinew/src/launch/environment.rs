//! Settings from the environment. An invalid variable is an error; it is not ignored.

use std::env;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Once;

use sinew_coroutine::{LARGEST_CLASS, SMALLEST_CLASS};
use sinew_topology::nearest_name;

use super::config::Config;
use super::error::StartError;

/// Maximum number of workers of a group.
pub(super) const MOST_WORKERS: usize = 64;

/// Maximum number of groups.
pub(super) const MOST_GROUPS: usize = 1024;

/// Maximum number of fibers in the queue of a group before it spills.
const LARGEST_QUEUE: usize = 1 << 24;

/// The variables that are settings.
const VARIABLES: [&str; 18] = [
    WORKERS,
    "SINEW_PROFILE",
    "SINEW_CONCURRENCY",
    "SINEW_GROUP_SIZE",
    "SINEW_NUMA",
    "SINEW_CPUS",
    "SINEW_EXCLUDED_CPUS",
    "SINEW_WORKER_PER_CPU",
    "SINEW_STRATEGY",
    "SINEW_STEAL_WITHIN_NODE",
    "SINEW_STEAL_ACROSS_NODES",
    "SINEW_QUEUE_CAPACITY",
    "SINEW_STACK_SIZE",
    "SINEW_MAX_FIBERS",
    "SINEW_PREWARM",
    "SINEW_BLOCKING_THREADS",
    "SINEW_BLOCKING_IDLE_MS",
    "SINEW_STALL_REPORT_MS",
];

/// Prefixes of variables that are not settings, but belong to the project's own tests and
/// measurements.
const OF_OTHERS: [&str; 3] = ["SINEW_TEST_", "SINEW_REQUIRE_", "SINEW_BENCH_"];

/// Returns the variables that look like settings and are not, each with the variable that may be
/// meant.
pub(super) fn unknown() -> Vec<(String, Option<&'static str>)> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_unknown = |name: &String| {
        name.starts_with("SINEW_")
            && !VARIABLES.contains(&name.as_str())
            && !OF_OTHERS.iter().any(|others| name.starts_with(others))
    };
    let meant = |name: &str| {
        let bare = |name: &'static str| name.trim_start_matches("SINEW_");
        let words = VARIABLES.map(bare);
        let nearest = nearest_name(name.trim_start_matches("SINEW_"), &words)?;
        VARIABLES.into_iter().find(|variable| bare(variable) == nearest)
    };
    let mut unknown: Vec<_> = names.filter(is_unknown).map(|name| (name.clone(), meant(&name))).collect();
    unknown.sort();
    unknown
}

/// Warns of [unknown] variables, once in a process.
pub(super) fn report_unknown() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (name, meant) in unknown() {
            let hint = meant.map_or_else(String::new, |meant| format!(": did you mean {meant}?"));
            // Not by `eprintln!`, which panics if standard error is closed.
            let _ = writeln!(
                stderr(),
                "sinew: {name} is set in the environment, and there is no such setting{hint}"
            );
        }
    });
}

/// Reads all variables that are set.
///
/// # Errors
///
/// Returns an error if a variable is invalid.
pub(super) fn config() -> Result<Config, StartError> {
    let config = Config {
        workers: number(WORKERS, 1..=MOST_WORKERS * MOST_GROUPS)?,
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
        stack_size: size("SINEW_STACK_SIZE", SMALLEST_CLASS..=LARGEST_CLASS)?,
        max_fibers: number("SINEW_MAX_FIBERS", 1..=usize::MAX)?,
        prewarm: number("SINEW_PREWARM", 0..=1_000_000)?,
        blocking_threads: number("SINEW_BLOCKING_THREADS", 1..=usize::MAX)?,
        blocking_idle_ms: milliseconds("SINEW_BLOCKING_IDLE_MS")?,
        stall_report_ms: milliseconds("SINEW_STALL_REPORT_MS")?,
    };
    match config.planning().into_iter().find(|(_, is_set)| *is_set) {
        Some((setting, _)) if config.workers.is_some() => {
            Err(StartError::Contradiction { given: WORKERS, setting: variable(setting) })
        }
        _ => Ok(config),
    }
}

const WORKERS: &str = "SINEW_WORKERS";

/// Returns the variable of a setting that gives or plans groups.
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

/// Returns the variables that plan groups in these settings.
pub(super) fn planning(environment: &Config) -> Vec<&'static str> {
    let set = environment.planning().into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(setting, _)| variable(setting)).collect()
}

/// Returns the variables of the environment that are ignored because of the settings in `first`.
pub(super) fn ignored(first: &Config, environment: &Config) -> Vec<&'static str> {
    let (is_given, is_planned) = (first.gives_by().is_some(), first.plans_by().is_some());
    let planning = environment.planning().into_iter().filter(|(_, is_set)| *is_set && is_given);
    let workers = environment.workers.filter(|_| is_planned).map(|_| "workers");
    planning.map(|(setting, _)| setting).chain(workers).map(variable).collect()
}

/// Returns the text of a variable, without surrounding whitespace.
fn text(name: &str) -> Option<String> {
    env::var_os(name).map(|text| text.to_string_lossy().trim().to_owned())
}

fn refused(name: &'static str, text: String, wanted: impl Display) -> StartError {
    StartError::Environment { name, value: text, wanted: format!("set it to {wanted}, or not at all") }
}

/// Reads a number.
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

/// Reads a time in milliseconds, as a number without a unit.
fn milliseconds(name: &'static str) -> Result<Option<u64>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(refused(name, text, "a number of milliseconds, such as 500")),
    }
}

/// Reads a number of bytes, which may have a unit: `128k`, `1M`.
fn size(name: &'static str, sizes: RangeInclusive<usize>) -> Result<Option<usize>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match parse_size(&text) {
        Some(size) if sizes.contains(&size) => Ok(Some(size)),
        _ => {
            let wanted = format!(
                "a number of bytes from {} to {}, such as 131072 or 128k",
                sizes.start(),
                sizes.end()
            );
            Err(refused(name, text, wanted))
        }
    }
}

/// Parses a number of bytes: digits, and optionally `k`, `M` or `G` for multiples of 1,024, with or
/// without `B` or `iB` behind it.
pub(super) fn parse_size(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// Reads a flag.
fn flag(name: &'static str) -> Result<Option<bool>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.as_str() {
        "1" | "on" | "true" | "yes" => Ok(Some(true)),
        "0" | "off" | "false" | "no" => Ok(Some(false)),
        _ => Err(refused(name, text, "on or off")),
    }
}

/// Reads a value with its `FromStr`, whose error is part of the returned error.
fn value<T: FromStr<Err: Display>>(name: &'static str) -> Result<Option<T>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(StartError::Environment { name, value: text, wanted: error.to_string() }),
    }
}
