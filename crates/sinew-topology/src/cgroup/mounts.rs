//! Where control groups are mounted, and which of them a process is in: parses two files of
//! `/proc`. Opens no file.

use std::path::{Component, Path, PathBuf};

/// The longest path that can be opened.
const LONGEST_PATH: usize = 4096;

/// A hierarchy of control groups that limits CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hierarchy {
    /// The hierarchy of v2, with all controllers.
    Unified,
    /// A hierarchy of v1 with this controller, and possibly others.
    Legacy(&'static str),
}

/// Returns the group of a process in a hierarchy, from the lines of `/proc/self/cgroup`:
/// `1:cpu,cpuacct:/a/b`, or `0::/a/b`.
pub(super) fn group_of(cgroup: &str, hierarchy: Hierarchy) -> Option<&str> {
    let groups = cgroup.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let mut ours = groups.filter(|(controllers, _)| match hierarchy {
        Hierarchy::Unified => controllers.is_empty(),
        Hierarchy::Legacy(name) => controllers.split(',').any(|controller| controller == name),
    });
    ours.next().map(|(_, path)| path)
}

/// Returns the directories of a group and of its ancestors, as far as they are visible, the group's
/// own first. Returns `None` if the hierarchy is not mounted, or if the group is outside of the
/// mounted part.
pub(super) fn directories(mountinfo: &str, hierarchy: Hierarchy, group: &str) -> Option<Vec<PathBuf>> {
    if group.len() > LONGEST_PATH {
        return None;
    }
    let mounts = mountinfo.lines().filter_map(|line| Mount::parse(line, hierarchy));
    let seen = mounts.filter_map(|mount| {
        let below = Path::new(group).strip_prefix(&mount.root).ok()?.to_owned();
        // A group outside of the namespace has a path that goes up.
        let is_inside = below.components().all(|part| matches!(part, Component::Normal(_)));
        is_inside.then_some((mount, below))
    });
    // If there are several mounts, the one with the highest root shows the most ancestors.
    let (mount, below) = seen.max_by_key(|(_, below)| below.components().count())?;
    Some(below.ancestors().map(|part| mount.point.join(part)).collect())
}

/// A mount of a hierarchy: the group at its root, and its mount point.
struct Mount {
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// Parses a line of the form `id parent device root point options [more ...] - type source
    /// options`.
    fn parse(line: &str, hierarchy: Hierarchy) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let (kind, options) = (kind.next()?, kind.nth(1)?);
        let is_it = match hierarchy {
            Hierarchy::Unified => kind == "cgroup2",
            Hierarchy::Legacy(name) => kind == "cgroup" && options.split(',').any(|option| option == name),
        };
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        is_it.then(|| Self { root: unescape(root).into(), point: unescape(point).into() })
    }
}

/// Replaces escapes: the kernel writes space and a few other characters as a backslash and three
/// octal digits.
fn unescape(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                plain.push(code.into());
                plain.push_str(&piece[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(piece);
            }
        }
    }
    plain
}
