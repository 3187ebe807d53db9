//! Memory: what the machine has free, and what control groups leave of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::number_in;

/// Version 1 of control groups has no word for "no limit": it writes a number near 2^63.
const NO_LIMIT: u64 = 1 << 60;

/// Memory that this process may still take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// What the kernel expects to be able to hand out without swapping.
    pub(crate) available: Option<u64>,
    /// The tightest limit of a control group.
    pub(crate) limit: Option<u64>,
    /// What is left below the limit that leaves least.
    pub(crate) left: Option<u64>,
}

impl Memory {
    /// Reads `proc` and `sys` below a root, which is `/` but in tests.
    pub(crate) fn read(root: &Path) -> Self {
        let groups = groups(root);
        let limits = groups.iter().filter_map(|group| limit_of(group));
        let left = groups.iter().filter_map(|group| left_in(group));
        Self { available: available(root), limit: limits.min(), left: left.min() }
    }

    /// The smaller of both, if either is known.
    pub(crate) fn free(self) -> Option<u64> {
        self.available.into_iter().chain(self.left).min()
    }
}

/// Memory of this process that is in RAM.
pub(crate) fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmRSS:")
}

fn available(root: &Path) -> Option<u64> {
    kibibytes(&fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// The value of a line such as `MemAvailable:   123 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1_024)
}

/// The directories of the control groups that limit this process's memory: its own and those around
/// it.
fn groups(root: &Path) -> Vec<PathBuf> {
    let Ok(text) = fs::read_to_string(root.join("proc/self/cgroup")) else { return Vec::new() };
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let base = match controllers {
            "" => root.join("sys/fs/cgroup"),
            names if names.split(',').any(|name| name == "memory") => root.join("sys/fs/cgroup/memory"),
            _ => continue,
        };
        // In a container the path may be the host's, which is not there; the root of what is
        // mounted then counts.
        let own = base.join(path.trim_start_matches('/'));
        groups.extend(own.ancestors().take_while(|group| group.starts_with(&base)).map(Path::to_owned));
    }
    groups
}

/// The limit of a group, in the file of either version.
fn limit_of(group: &Path) -> Option<u64> {
    number_below(group, ["memory.max", "memory.limit_in_bytes"]).filter(|&limit| limit < NO_LIMIT)
}

fn left_in(group: &Path) -> Option<u64> {
    let used = number_below(group, ["memory.current", "memory.usage_in_bytes"]).unwrap_or(0);
    // The kernel drops cached files before it refuses memory. After a build, they are most of what
    // is used.
    let used = used.saturating_sub(cached_files(group).unwrap_or(0));
    Some(limit_of(group)?.saturating_sub(used))
}

/// Version 1 has a sum over the groups below under a name of its own.
fn cached_files(group: &Path) -> Option<u64> {
    let stat = fs::read_to_string(group.join("memory.stat")).ok()?;
    let value_of = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    ["total_inactive_file ", "inactive_file "].iter().find_map(|name| value_of(name))
}

fn number_below(group: &Path, names: [&str; 2]) -> Option<u64> {
    names.iter().find_map(|name| number_in(group.join(name).to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with files, removed at the end.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("sinew-cli-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            // A test that fails already says why.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_group_that_leaves_least_counts() {
        let root = Root::new(
            "v2",
            &[
                ("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:    800 kB\n"),
                ("proc/self/cgroup", "0::/outer/inner\n"),
                ("sys/fs/cgroup/outer/memory.max", "500000\n"),
                ("sys/fs/cgroup/outer/memory.current", "450000\n"),
                ("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 20000\n"),
                ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ],
        );
        let memory = Memory::read(&root.0);
        let expected = Memory { available: Some(800 * 1_024), limit: Some(500_000), left: Some(70_000) };
        assert_eq!((memory, memory.free()), (expected, Some(70_000)));
    }

    #[test]
    fn version_1_and_no_limit_at_all_are_understood() {
        let root = Root::new(
            "v1",
            &[
                ("proc/meminfo", "MemAvailable: 800 kB\n"),
                ("proc/self/cgroup", "3:cpu:/a\n2:memory:/not/mounted/here\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"),
            ],
        );
        let memory = Memory::read(&root.0);
        assert_eq!((memory.limit, memory.free()), (None, Some(800 * 1_024)));
    }
}
