//! What control groups leave of a machine, v1 and v2. Knows files and limits; CPUs and nodes are not its business.

mod mounts;
mod quota;

use std::path::{Path, PathBuf};

use self::mounts::Hierarchy;
pub use self::quota::Quota;
use super::cpu_set::CpuSet;
use super::file;

/// What the control groups of this process permit.
///
/// Nothing about it is an error: a file that is missing limits nothing, and so does one that cannot be read or makes no sense,
/// which [`notes`](Cgroups::notes) tell.
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
    /// Looks at the groups of the calling process, and at their ancestors, as `proc/self/cgroup` and `proc/self/mountinfo`
    /// below a root name them; the mount points are below that root as well.
    #[must_use]
    pub fn read(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        let mut found = Self::default();
        let cgroup = found.text(&root.join("proc/self/cgroup")).unwrap_or_default();
        let mountinfo = found.text(&root.join("proc/self/mountinfo")).unwrap_or_default();
        for hierarchy in [Hierarchy::Unified, Hierarchy::Legacy("cpu"), Hierarchy::Legacy("cpuset")] {
            let Some(group) = mounts::group_of(&cgroup, hierarchy) else { continue };
            // Not mounted, or not visible from here: then nothing is known, which is common in containers.
            let directories = mounts::directories(&mountinfo, hierarchy, group).unwrap_or_default();
            for directory in directories {
                // A mount point is an absolute path, and would replace the root.
                let below: PathBuf = directory.components().skip(1).collect();
                found.look(hierarchy, &root.join(below));
            }
        }
        found
    }

    /// The tightest quota of all groups that the process is in.
    #[must_use]
    pub fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// The CPUs that all groups permit, if any says something.
    #[must_use]
    pub fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    /// Which files were there and did not count, and why.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn look(&mut self, hierarchy: Hierarchy, directory: &Path) {
        match hierarchy {
            Hierarchy::Unified => {
                self.look_at_max(&directory.join("cpu.max"));
                self.look_at_cpus(&directory.join("cpuset.cpus.effective"));
            }
            Hierarchy::Legacy("cpu") => self.look_at_cfs(directory),
            Hierarchy::Legacy(_) => {
                // The first is what holds, where kernels have it; the second is what was asked for.
                if !self.look_at_cpus(&directory.join("cpuset.effective_cpus")) {
                    self.look_at_cpus(&directory.join("cpuset.cpus"));
                }
            }
        }
    }

    fn look_at_max(&mut self, path: &Path) {
        if let Some(text) = self.text(path) {
            self.tighten(path, Quota::from_v2(&text));
        }
    }

    fn look_at_cfs(&mut self, directory: &Path) {
        let path = directory.join("cpu.cfs_quota_us");
        if let Some(quota) = self.text(&path) {
            let period = self.text(&directory.join("cpu.cfs_period_us"));
            self.tighten(&path, Quota::from_v1(&quota, period.as_deref()));
        }
    }

    fn tighten(&mut self, path: &Path, found: Result<Option<Quota>, String>) {
        match found {
            Ok(found) => self.quota = self.quota.into_iter().chain(found).min(),
            Err(reason) => self.ignore(path, &reason),
        }
    }

    /// Whether the file says something. An empty list is how groups say that nobody has set it.
    fn look_at_cpus(&mut self, path: &Path) -> bool {
        let Some(text) = self.text(path) else { return false };
        match text.parse::<CpuSet>() {
            Ok(cpus) if cpus.is_empty() => false,
            Ok(cpus) => {
                self.cpus = Some(self.cpus.as_ref().map_or_else(|| cpus.clone(), |known| known & &cpus));
                true
            }
            Err(error) => {
                self.ignore(path, &error.to_string());
                false
            }
        }
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        file::read(path).unwrap_or_else(|error| {
            self.ignore(path, &error.to_string());
            None
        })
    }

    fn ignore(&mut self, path: &Path, reason: &str) {
        self.notes.push(format!("{} does not count: {reason}", path.display()));
    }
}
