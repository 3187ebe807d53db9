//! Control groups, v1 and v2, described by files.

use super::set;
use super::tree::Tree;
use sinew_topology::{Cgroups, Quota};

const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
const CPU: &str =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
const CPUSET: &str = "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
/// Mounts that do not matter here.
const OTHERS: &str = "23 1 0:22 / /sys rw - sysfs sysfs rw\nnonsense\n\n31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

/// Another one that does not matter, with options like those of control groups.
const ALIKE: &str = "60 23 0:99 / /mnt/alike rw - other other rw,cpu,cpuset\n";

fn process(cgroup: &str, mounts: &[&str]) -> Tree {
    let tree = Tree::new();
    tree.file("proc/self/cgroup", cgroup)
        .file("proc/self/mountinfo", &format!("{OTHERS}{}{ALIKE}", mounts.concat()));
    tree
}

fn v2(group: &str) -> Tree {
    process(&format!("0::{group}\n"), &[V2])
}

fn v1(group: &str) -> Tree {
    process(&format!("9:name=systemd:/x\n4:cpuset:{group}\n1:cpu,cpuacct:{group}\n0::/\n"), &[CPU, CPUSET])
}

fn quota(tree: &Tree) -> Option<Quota> {
    let groups = Cgroups::read(tree.root());
    assert!(groups.notes().is_empty(), "{:?}", groups.notes());
    groups.quota()
}

#[test]
fn quotas_of_v2() {
    let tree = v2("/a");
    let limits = [
        ("max 100000\n", None),
        ("max\n", None),
        ("50000 100000\n", Some(1)),
        ("100000 100000\n", Some(1)),
        ("100001 100000\n", Some(2)),
        ("350000 100000\n", Some(4)),
        ("350000\n", Some(4)),
        ("1000 1000000\n", Some(1)),
        ("18446744073709551615 1\n", Some(usize::MAX)),
    ];
    for (text, cpus) in limits {
        tree.file("sys/fs/cgroup/a/cpu.max", text);
        assert_eq!(quota(&tree).map(Quota::cpus), cpus, "{text:?}");
    }
}

#[test]
fn quotas_of_v1() {
    let tree = v1("/a");
    let limits = [
        ("-1\n", Some("100000\n"), None),
        ("50000\n", Some("100000\n"), Some(1)),
        ("250000\n", Some("100000\n"), Some(3)),
        ("250000\n", Some("50000\n"), Some(5)),
        ("250000\n", None, Some(3)),
    ];
    for (quota_us, period_us, cpus) in limits {
        tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", quota_us);
        let period = "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us";
        match period_us {
            Some(text) => tree.file(period, text),
            None => tree.without(period),
        };
        assert_eq!(quota(&tree).map(Quota::cpus), cpus, "{quota_us:?} {period_us:?}");
    }
}

#[test]
fn the_tightest_of_all_ancestors_counts() {
    let tree = v2("/a/b/c");
    tree.file("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000");
    assert_eq!(quota(&tree), Quota::new(8, 1));
    tree.file("sys/fs/cgroup/a/cpu.max", "30000 10000");
    assert_eq!(quota(&tree), Quota::new(3, 1));
    tree.file("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
    assert_eq!(quota(&tree), Quota::new(3, 1));
    tree.file("sys/fs/cgroup/cpu.max", "150000 100000");
    assert_eq!(quota(&tree), Quota::new(3, 2));
    tree.file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
    assert_eq!(quota(&tree), Quota::new(3, 2));
    // Limits of other groups.
    tree.file("sys/fs/cgroup/a/b/c/d/cpu.max", "1000 100000").file("sys/fs/cgroup/x/cpu.max", "1000 100000");
    assert_eq!(quota(&tree), Quota::new(3, 2));

    let tree = v1("/a/b");
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1");
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "200000");
    assert_eq!(quota(&tree), Quota::new(2, 1));
}

#[test]
fn a_hybrid_has_limits_in_both() {
    let unified = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let tree = process("1:cpu,cpuacct:/a\n0::/b\n", &[CPU, unified]);
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000");
    assert_eq!(quota(&tree), Quota::new(4, 1));
    tree.file("sys/fs/cgroup/unified/b/cpu.max", "200000 100000");
    assert_eq!(quota(&tree), Quota::new(2, 1));
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000");
    assert_eq!(quota(&tree), Quota::new(1, 1));
}

#[test]
fn a_container_sees_a_part_of_the_tree() {
    let mount = "32 31 0:29 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    // The group at the mount's root, one below it, and one that is not visible.
    for (group, path) in [("/docker/abc", ""), ("/docker/abc/x", "x/")] {
        let tree = process(&format!("0::{group}\n"), &[mount]);
        tree.file(&format!("sys/fs/cgroup/{path}cpu.max"), "200000 100000");
        assert_eq!(quota(&tree), Quota::new(2, 1), "{group}");
    }
    for group in ["/docker/abcd", "/", "/docker", "/../elsewhere"] {
        let tree = process(&format!("0::{group}\n"), &[mount]);
        tree.file("sys/fs/cgroup/cpu.max", "200000 100000");
        assert_eq!(quota(&tree), None, "{group}");
    }
    let tree = v2("/../elsewhere");
    tree.file("sys/fs/cgroup/cpu.max", "200000 100000").file("sys/fs/elsewhere/cpu.max", "100000 100000");
    assert_eq!(quota(&tree), None);
}

#[test]
fn of_two_mounts_the_one_with_more_ancestors_counts() {
    let narrow = "50 1 0:26 /a/b /mnt/narrow rw - cgroup2 cgroup2 rw\n";
    for mounts in [[V2, narrow], [narrow, V2]] {
        let tree = process("0::/a/b\n", &mounts);
        tree.file("sys/fs/cgroup/a/cpu.max", "200000 100000").file("mnt/narrow/cpu.max", "max 100000");
        assert_eq!(quota(&tree), Quota::new(2, 1));
    }
}

#[test]
fn mount_points_and_groups_may_have_odd_names() {
    let tree = process("0::/a b:c\n", &["30 23 0:26 / /mnt/with\\040space\\134x rw - cgroup2 cgroup2 rw\n"]);
    tree.file("mnt/with space\\x/a b:c/cpu.max", "200000 100000");
    assert_eq!(quota(&tree), Quota::new(2, 1));
    let tree = process("0::/\n", &["30 23 0:26 / /mnt/a\\9\\ü rw - cgroup2 cgroup2 rw\n"]);
    tree.file("mnt/a\\9\\ü/cpu.max", "200000 100000");
    assert_eq!(quota(&tree), Quota::new(2, 1));
}

#[test]
fn missing_files_limit_nothing() {
    assert_eq!(Cgroups::read("/nowhere"), Cgroups::default());
    assert_eq!(Cgroups::read(Tree::new().root()), Cgroups::default());
    for tree in
        [v1("/a/b"), v2("/a/b"), process("0::/a\n", &[]), process("", &[V2]), process("0:\nx\n:::\n", &[V2])]
    {
        assert_eq!(Cgroups::read(tree.root()), Cgroups::default());
    }
}

#[test]
fn an_invalid_file_limits_nothing_and_is_noted() {
    let tree = v2("/a");
    tree.file("sys/fs/cgroup/cpu.max", "300000 100000");
    for text in ["", "lots", "1 2 3", "-1 100000", "1000 0", "0 100000", "max x", "99999999999999999999 1"] {
        tree.file("sys/fs/cgroup/a/cpu.max", text);
        let groups = Cgroups::read(tree.root());
        assert_eq!(groups.quota(), Quota::new(3, 1), "{text:?}");
        assert!(groups.notes()[0].contains("cgroup/a/cpu.max is ignored"), "{text:?}: {:?}", groups.notes());
    }
    let tree = v1("/a");
    for (quota, period) in
        [("x", "1"), ("--1", "1"), ("-x", "1"), ("0", "1"), ("1", "0"), ("1", "-1"), ("", "1")]
    {
        tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", quota);
        tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", period);
        let groups = Cgroups::read(tree.root());
        assert_eq!((groups.quota(), groups.notes().len()), (None, 1), "{quota:?} {period:?}");
    }
}

#[test]
fn unreadable_and_endless_files_limit_nothing_and_are_noted() {
    for path in ["proc/self/cgroup", "proc/self/mountinfo", "sys/fs/cgroup/a/cpu.max"] {
        let tree = v2("/a");
        tree.spoil(path);
        let groups = Cgroups::read(tree.root());
        assert_eq!((groups.quota(), groups.notes().len()), (None, 1), "{path}");
        assert!(groups.notes()[0].contains(path), "{:?}", groups.notes());
        tree.without(path).inflate(path, 1 << 30);
        assert!(Cgroups::read(tree.root()).notes()[0].contains("longer"), "{path}");
    }
    // A group so deep that no path reaches it.
    let tree = v2(&"/a".repeat(100_000));
    tree.file("sys/fs/cgroup/cpu.max", "100000 100000");
    assert_eq!(quota(&tree), None);
}

#[test]
fn cpusets_of_v2_are_the_effective_ones() {
    let tree = v2("/a/b");
    tree.file("sys/fs/cgroup/cpuset.cpus.effective", "0-15\n")
        .file("sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("0-7")), "the group itself has no such file");
    tree.file("sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-5\n")
        .file("sys/fs/cgroup/a/b/cpuset.cpus", "0-9\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("4-5")));
}

#[test]
fn cpusets_of_v1_are_the_effective_ones_where_kernels_have_them() {
    let tree = v1("/a");
    tree.file("sys/fs/cgroup/cpuset/cpuset.cpus", "0-15\n").file("sys/fs/cgroup/cpuset/a/cpuset.cpus", "\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("0-15")), "the group does not set its own");
    tree.file("sys/fs/cgroup/cpuset/a/cpuset.cpus", "2-9\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("2-9")));
    tree.file("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "2-3\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("2-3")));
    tree.file("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "two\n");
    let groups = Cgroups::read(tree.root());
    assert_eq!((groups.cpus(), groups.notes().len()), (Some(&set("2-9")), 1));
}

#[test]
fn cpusets_of_a_hybrid_count_both() {
    let unified = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let tree = process("4:cpuset:/\n0::/\n", &[CPUSET, unified]);
    tree.file("sys/fs/cgroup/unified/cpuset.cpus.effective", "0-7\n")
        .file("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "4-11\n");
    assert_eq!(Cgroups::read(tree.root()).cpus(), Some(&set("4-7")));
}

#[test]
fn quotas_compare_by_what_they_grant() {
    let quota = |us, period| Quota::new(us, period).unwrap();
    assert_eq!(quota(1, 2), quota(50_000, 100_000));
    assert!(quota(1, 3) < quota(1, 2));
    assert!(quota(u64::MAX, 1) > quota(u64::MAX - 1, 1));
    assert!(Quota::new(0, 1).is_none() && Quota::new(1, 0).is_none());
    assert_eq!(quota(150_000, 100_000).to_string(), "1.50 CPUs");
}

#[test]
fn the_groups_of_this_process_are_read() {
    let groups = Cgroups::read("/");
    assert!(groups.notes().is_empty(), "{:?}", groups.notes());
}
