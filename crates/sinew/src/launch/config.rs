//! Settings of a runtime as data; each may be missing.

use sinew_sched::{Profile, Strategy};
use sinew_topology::CpuList;

use super::environment;
use super::error::StartError;

/// Settings of a [`Runtime`](crate::Runtime) as data, for example to be read from a file with the
/// feature `serde`. Each setting and its default are documented at the method of the same name of
/// [`RuntimeBuilder`](crate::RuntimeBuilder).
///
/// ```
/// let mut config = sinew::Config::default();
/// config.workers = Some(2);
/// let runtime = sinew::RuntimeBuilder::from(config).name("shop").start()?;
/// assert_eq!(runtime.workers(), 2);
/// # Ok::<(), sinew::StartError>(())
/// ```
///
/// Fields may be added: start from `default()` and assign. With `serde`, every setting may be
/// missing, and an unknown name is an error. Profiles, strategies and lists of CPUs are text in
/// this type only; the types themselves implement `FromStr` and `Display`. As TOML:
///
/// ```toml
/// profile = "io-heavy"   # compute-heavy, compute, neutral, io, io-heavy or customized
/// strategy = "shared"    # local or shared
/// cpus = "0-3,-1"        # the first four and the last
/// worker_per_cpu = true
/// stack_size = "256k"    # or a number of bytes
/// stall_report_ms = 500
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Config {
    /// [`workers`](crate::RuntimeBuilder::workers). Excludes `groups`.
    pub workers: Option<usize>,
    /// [`groups`](crate::RuntimeBuilder::groups).
    pub groups: Option<Vec<usize>>,
    /// [`profile`](crate::RuntimeBuilder::profile).
    #[cfg_attr(feature = "serde", serde(with = "as_text"))]
    pub profile: Option<Profile>,
    /// [`concurrency`](crate::RuntimeBuilder::concurrency).
    pub concurrency: Option<usize>,
    /// [`group_size`](crate::RuntimeBuilder::group_size).
    pub group_size: Option<usize>,
    /// [`numa`](crate::RuntimeBuilder::numa).
    pub numa: Option<bool>,
    /// [`cpus`](crate::RuntimeBuilder::cpus).
    #[cfg_attr(feature = "serde", serde(with = "as_text"))]
    pub cpus: Option<CpuList>,
    /// [`excluded_cpus`](crate::RuntimeBuilder::excluded_cpus).
    #[cfg_attr(feature = "serde", serde(with = "as_text"))]
    pub excluded_cpus: Option<CpuList>,
    /// [`worker_per_cpu`](crate::RuntimeBuilder::worker_per_cpu).
    pub worker_per_cpu: Option<bool>,
    /// [`strategy`](crate::RuntimeBuilder::strategy).
    #[cfg_attr(feature = "serde", serde(with = "as_text"))]
    pub strategy: Option<Strategy>,
    /// [`steal_within_node`](crate::RuntimeBuilder::steal_within_node).
    pub steal_within_node: Option<u32>,
    /// [`steal_across_nodes`](crate::RuntimeBuilder::steal_across_nodes).
    pub steal_across_nodes: Option<u32>,
    /// [`queue_capacity`](crate::RuntimeBuilder::queue_capacity).
    pub queue_capacity: Option<usize>,
    /// [`name`](crate::RuntimeBuilder::name).
    pub name: Option<String>,
    /// [`stack_size`](crate::RuntimeBuilder::stack_size), in bytes. In a file, also as text with a
    /// unit: `"128k"`, `"1M"`.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "size"))]
    pub stack_size: Option<usize>,
    /// [`max_fibers`](crate::RuntimeBuilder::max_fibers).
    pub max_fibers: Option<usize>,
    /// [`prewarm`](crate::RuntimeBuilder::prewarm).
    pub prewarm: Option<usize>,
    /// [`blocking_threads`](crate::RuntimeBuilder::blocking_threads).
    pub blocking_threads: Option<usize>,
    /// [`blocking_idle`](crate::RuntimeBuilder::blocking_idle), in milliseconds.
    pub blocking_idle_ms: Option<u64>,
    /// [`stall_report`](crate::RuntimeBuilder::stall_report), in milliseconds; 0 turns it off.
    pub stall_report_ms: Option<u64>,
}

impl Config {
    /// Returns the settings that plan groups for the machine, and whether each is set.
    pub(super) fn planning(&self) -> [(&'static str, bool); 7] {
        [
            ("profile", self.profile.is_some()),
            ("concurrency", self.concurrency.is_some()),
            ("group_size", self.group_size.is_some()),
            ("numa", self.numa.is_some()),
            ("cpus", self.cpus.is_some()),
            ("excluded_cpus", self.excluded_cpus.is_some()),
            ("worker_per_cpu", self.worker_per_cpu.is_some()),
        ]
    }

    /// Returns the setting by which groups are given, if one is set.
    pub(super) fn gives_by(&self) -> Option<&'static str> {
        let by_groups = self.groups.as_ref().map(|_| "groups");
        self.workers.map(|_| "workers").or(by_groups)
    }

    /// Returns a setting by which groups are planned, if one is set.
    pub(super) fn plans_by(&self) -> Option<&'static str> {
        self.planning().into_iter().find_map(|(name, is_there)| is_there.then_some(name))
    }

    /// Reads the settings from the environment, by the variables that are listed at
    /// [`RuntimeBuilder`](crate::RuntimeBuilder), for example to let them override a file.
    ///
    /// ```
    /// # let file = sinew::Config::default();
    /// let config = sinew::Config::from_environment()?.or(file);
    /// let runtime = sinew::RuntimeBuilder::from(config).start()?;
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a variable is invalid, or if both `SINEW_WORKERS` and a variable that
    /// plans groups are set.
    pub fn from_environment() -> Result<Self, StartError> {
        environment::config()
    }

    /// Returns these settings, with those of `other` where one is missing here. If this gives the
    /// groups, by `workers` or `groups`, the settings of `other` that plan groups are ignored, and
    /// the other way round.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let (mut given, mut planned) = (other.clone(), other.clone());
        if self.gives_by().is_some() {
            (given, planned) = (Self::default(), Self::default());
        } else if self.plans_by().is_some() {
            given = Self::default();
        }
        Self {
            workers: self.workers.or(given.workers),
            groups: self.groups.or(given.groups),
            profile: self.profile.or(planned.profile),
            concurrency: self.concurrency.or(planned.concurrency),
            group_size: self.group_size.or(planned.group_size),
            numa: self.numa.or(planned.numa),
            cpus: self.cpus.or(planned.cpus),
            excluded_cpus: self.excluded_cpus.or(planned.excluded_cpus),
            worker_per_cpu: self.worker_per_cpu.or(planned.worker_per_cpu),
            strategy: self.strategy.or(other.strategy),
            steal_within_node: self.steal_within_node.or(other.steal_within_node),
            steal_across_nodes: self.steal_across_nodes.or(other.steal_across_nodes),
            queue_capacity: self.queue_capacity.or(other.queue_capacity),
            name: self.name.or(other.name),
            stack_size: self.stack_size.or(other.stack_size),
            max_fibers: self.max_fibers.or(other.max_fibers),
            prewarm: self.prewarm.or(other.prewarm),
            blocking_threads: self.blocking_threads.or(other.blocking_threads),
            blocking_idle_ms: self.blocking_idle_ms.or(other.blocking_idle_ms),
            stall_report_ms: self.stall_report_ms.or(other.stall_report_ms),
        }
    }
}

/// Settings that are text in a file: written with `Display`, read with `FromStr`.
#[cfg(feature = "serde")]
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_string).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// Reads a number of bytes. In human-readable formats it may be text with a unit.
#[cfg(feature = "serde")]
fn size<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    use serde::Deserialize;
    use serde::de::Error;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number of bytes, or text with a unit, as 128k or 1M")]
    enum Size {
        Bytes(usize),
        Text(String),
    }

    if !deserializer.is_human_readable() {
        return Option::deserialize(deserializer);
    }
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(Size::Bytes(bytes)) => Ok(Some(bytes)),
        Some(Size::Text(text)) => environment::parse_size(text.trim()).map(Some).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no size: expected a number of bytes, or text with a unit, as 128k or 1M"
            ))
        }),
    }
}
