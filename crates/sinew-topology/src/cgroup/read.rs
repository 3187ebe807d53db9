//! How limits are read from the files of control groups. Knows how the files are named, and nothing
//! about CPUs and nodes.

use std::path::{Path, PathBuf};

use super::mounts::{self, Hierarchy};
use super::{Cgroups, Quota};
use crate::cpu_set::CpuSet;
use crate::file;

impl Cgroups {
    /// Reads the groups of the calling process and their ancestors.
    ///
    /// `proc/self/cgroup` and `proc/self/mountinfo` below `root` name the groups. The mount points
    /// are below `root` as well.
    #[must_use]
    pub fn read(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        let mut found = Self::default();
        let cgroup = found.text(&root.join("proc/self/cgroup")).unwrap_or_default();
        let mountinfo = found.text(&root.join("proc/self/mountinfo")).unwrap_or_default();
        for hierarchy in [Hierarchy::Unified, Hierarchy::Legacy("cpu"), Hierarchy::Legacy("cpuset")] {
            let Some(group) = mounts::group_of(&cgroup, hierarchy) else { continue };
            // If the hierarchy is not mounted or not visible from here, which is common in
            // containers, its limits are unknown.
            let directories = mounts::directories(&mountinfo, hierarchy, group).unwrap_or_default();
            for directory in directories {
                // A mount point is an absolute path, which would replace the root.
                let below: PathBuf = directory.components().skip(1).collect();
                found.look(hierarchy, &root.join(below));
            }
        }
        found
    }

    fn look(&mut self, hierarchy: Hierarchy, directory: &Path) {
        match hierarchy {
            Hierarchy::Unified => {
                self.look_at_max(&directory.join("cpu.max"));
                self.look_at_cpus(&directory.join("cpuset.cpus.effective"));
            }
            Hierarchy::Legacy("cpu") => self.look_at_cfs(directory),
            Hierarchy::Legacy(_) => {
                // The first is the list in effect, which newer kernels have. The second is the list
                // that was requested.
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

    /// Reads a list of permitted CPUs, and returns whether the file restricts them. An empty list
    /// means that the group does not set one.
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
        self.notes.push(format!("{} is ignored: {reason}", path.display()));
    }
}
