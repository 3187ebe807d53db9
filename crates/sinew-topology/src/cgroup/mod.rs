//! The limits of control groups, v1 and v2. Knows files and limits, but no CPUs or nodes of a
//! machine.

#[cfg(feature = "system")]
mod mounts;
mod quota;
#[cfg(feature = "system")]
mod read;

pub use self::quota::Quota;
use super::cpu_set::CpuSet;

/// The limits that the control groups of this process set.
///
/// Reading them never fails. A missing file sets no limit. Nor does a file that cannot be read or
/// is invalid; [`notes`](Cgroups::notes) lists such files.
///
/// # Examples
///
/// ```
/// # use sinew_topology::Cgroups;
/// let groups = Cgroups::read("/");
/// if let Some(quota) = groups.quota() {
///     println!("at most {quota}");
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cgroups {
    quota: Option<Quota>,
    cpus: Option<CpuSet>,
    notes: Vec<String>,
}

impl Cgroups {
    /// Returns the tightest quota of all groups that the process is in.
    #[must_use]
    pub fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// Returns the CPUs that all groups permit, or `None` if no group restricts them.
    #[must_use]
    pub fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    /// Returns notes on the files that exist and were ignored, with the reason.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
