//! From machines and wishes to groups, and the text about them.

use super::set;
use super::tree::Tree;
use sinew_topology::{Access, Cgroups, Plan, PlanError, Selection, Wishes};
use sinew_topology::{Profile, Topology};
use std::error::Error;

fn plan(tree: &Tree, mask: &str, wishes: &Wishes) -> Result<Plan, PlanError> {
    let machine = tree.read()?;
    let access = Access::new(&machine, set(mask), Cgroups::read(tree.root()))?;
    Plan::new(machine, access, wishes)
}

fn shape(plan: &Plan) -> (usize, usize, bool) {
    (plan.layout().groups(), plan.layout().group_size(), plan.layout().is_numa())
}

fn cgroup(tree: &Tree, max: &str) {
    tree.file("proc/self/cgroup", "0::/\n")
        .file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .file("sys/fs/cgroup/cpu.max", max);
}

#[test]
fn only_nodes_with_accessible_cpus_count() {
    let tree = Tree::machine(&["0-31", "32-63"], false);
    let wishes = Wishes { profile: Profile::Compute, ..Wishes::default() };
    assert_eq!(shape(&plan(&tree, "0-63", &wishes).unwrap()), (2, 32, true));
    let half = plan(&tree, "32-63", &wishes).unwrap();
    assert_eq!((shape(&half), half.demand().nodes), ((1, 32, false), 1));
    let chosen = Selection { allowed: None, excluded: Some("0-31".parse().unwrap()) };
    let chosen = plan(&tree, "0-63", &Wishes { cpus: chosen, ..wishes }).unwrap();
    assert_eq!((shape(&chosen), chosen.pinning().group(0)), ((1, 32, false), Some(set("32-63"))));
}

#[test]
fn a_quota_counts_unless_the_concurrency_is_given() {
    let tree = Tree::machine(&["0-15"], false);
    cgroup(&tree, "250000 100000\n");
    assert_eq!(shape(&plan(&tree, "0-15", &Wishes::default()).unwrap()), (1, 3, false));
    let given = Wishes { concurrency: Some(12), ..Wishes::default() };
    assert_eq!(shape(&plan(&tree, "0-15", &given).unwrap()), (1, 12, false));
}

#[test]
fn the_text_says_what_was_found_and_chosen_and_why() {
    let tree = Tree::machine(&["0-15", "16-31", ""], true);
    tree.sys("cpu/present", "0-33").sys("node/has_memory", "0,2").sys("node/node0/distance", "x");
    let cpus = Selection { allowed: Some("0--1".parse().unwrap()), excluded: Some("30".parse().unwrap()) };
    let wishes = Wishes { profile: Profile::Compute, cpus, ..Wishes::default() };
    let text = plan(&tree, "0-30", &wishes).unwrap().to_string();
    let path = tree.path("sys/devices/system/node/node0/distance");
    let expected = format!(
        "machine: 32 CPUs online (0-31) on 16 cores, 32-33 offline\n  \
           node 0: CPUs 0-15\n  \
           node 1: CPUs 16-31, no memory\n  \
           node 2: no CPUs\n\
         accessible: 30 CPUs (0-29) on 2 nodes; the affinity mask is 0-30; 0--1 allowed; 30 excluded\n\
         concurrency: 30, one for each accessible CPU\n\
         2 groups of 15 workers, NUMA on\n  \
           profile compute: computing on at least half of the CPUs, so each node has groups of its own\n  \
           group 0: node 0, CPUs 0-15, to which its threads are bound\n  \
           group 1: node 1, CPUs 16-29, to which its threads are bound\n\
         note: {} is invalid: \"x\" is not a list of distances: treating distances as unknown\n",
        path.display()
    );
    assert_eq!(text, expected);
}

#[test]
fn the_text_explains_the_number_of_workers() {
    let tree = Tree::machine(&["0-7"], false);
    cgroup(&tree, "350000 100000\n");
    tree.file("sys/fs/cgroup/cpuset.cpus.effective", "0-5");
    let quota = plan(&tree, "0-7", &Wishes::default()).unwrap().to_string();
    assert!(
        quota.contains("concurrency: 4, for a quota of 3.50 CPUs\n1 group of 4 workers, NUMA off\n"),
        "{quota}"
    );
    assert!(quota.contains("on 1 node; control groups permit 0-5\n"), "{quota}");
    let given = Wishes { concurrency: Some(2), group_size: Some(1), one_per_cpu: true, ..Wishes::default() };
    let given = plan(&tree, "0-7", &given).unwrap().to_string();
    assert!(given.contains("concurrency: 2, as asked for\n2 groups of 1 worker,"), "{given}");
    assert!(given.contains("; a size of 1 was asked for\n"), "{given}");
    assert!(given.contains("  group 1: CPUs 1, one per worker\n"), "{given}");
}

/// 37 workers would be two groups of 19 on 37 CPUs: with one worker less, each has a CPU.
#[test]
fn one_per_cpu_takes_as_many_workers_as_fit() {
    let wishes = Wishes { one_per_cpu: true, ..Wishes::default() };
    let tree = Tree::machine(&["0-36"], false);
    let fitting = plan(&tree, "0-36", &wishes).unwrap();
    assert_eq!(shape(&fitting), (2, 18, false));
    assert!(fitting.to_string().contains("concurrency: 36, so that each worker has a CPU"), "{fitting}");
    for cpus in 1..=100 {
        let machine = Topology::flat(sinew_topology::CpuSet::from_range(0..=cpus - 1));
        let access = Access::new(&machine, machine.online().clone(), Cgroups::default()).unwrap();
        let plan = Plan::new(machine, access, &wishes).unwrap();
        assert!(
            plan.layout().workers() <= cpus as usize && plan.layout().workers() * 10 >= cpus as usize * 9,
            "{plan}"
        );
    }
    // A given concurrency is not changed.
    let given = Wishes { concurrency: Some(37), ..wishes.clone() };
    assert!(matches!(plan(&tree, "0-36", &given), Err(PlanError::Pin(_))));
    let size = Wishes { group_size: Some(38), ..wishes };
    let error = plan(&tree, "0-36", &size).unwrap_err();
    assert!(error.to_string().contains("38 workers cannot each have one of 37 CPUs"), "{error}");
}

/// On uneven nodes, groups of equal size leave some workers without a CPU: the plan turns NUMA off,
/// unless it was requested.
#[test]
fn numa_is_turned_off_for_one_per_cpu() {
    let tree = Tree::machine(&["0-23", "24-31"], false);
    let wishes = Wishes { profile: Profile::Compute, one_per_cpu: true, ..Wishes::default() };
    assert_eq!(shape(&plan(&tree, "0-31", &wishes).unwrap()), (1, 32, false));
    let asked = Wishes { numa: Some(true), ..wishes.clone() };
    assert_eq!(shape(&plan(&tree, "0-31", &asked).unwrap()), (2, 8, true));
    let shared = Wishes { one_per_cpu: false, ..wishes };
    assert_eq!(shape(&plan(&tree, "0-31", &shared).unwrap()), (2, 16, true));
}

#[test]
fn errors_are_those_of_the_parts() {
    let tree = Tree::machine(&["0-3"], false);
    let wishes = Wishes { group_size: Some(65), ..Wishes::default() };
    assert!(matches!(plan(&tree, "0-3", &wishes), Err(PlanError::Layout(_))));
    let one = Wishes { one_per_cpu: true, ..wishes };
    assert!(matches!(plan(&tree, "0-3", &one), Err(PlanError::Layout(_))));
    let none = Wishes { concurrency: Some(0), one_per_cpu: true, ..Wishes::default() };
    assert!(plan(&tree, "0-3", &none).unwrap_err().to_string().contains("cannot be 0"));
    let cpus = Selection { allowed: Some("4".parse().unwrap()), excluded: None };
    let error = plan(&tree, "0-3", &Wishes { cpus, ..Wishes::default() }).unwrap_err();
    assert!(matches!(error, PlanError::Select(_)) && error.to_string().contains("CPU 4"), "{error}");
    let error = plan(&tree, "9", &Wishes::default()).unwrap_err();
    assert!(matches!(error, PlanError::Topology(_)) && error.source().is_none(), "{error}");
    tree.spoil("sys/devices/system/cpu/online");
    let error = Plan::for_this_process(tree.root(), &Wishes::default()).unwrap_err();
    assert!(error.source().is_some() && error.to_string().contains("cannot be read"), "{error}");
}

#[test]
fn without_sys_the_mask_is_the_machine() {
    let tree = Tree::new();
    let plan = Plan::for_this_process(tree.root(), &Wishes::default()).unwrap();
    assert_eq!(plan.machine().online(), plan.access().mask());
    assert_eq!((plan.machine().nodes().len(), plan.layout().workers()), (1, plan.access().mask().len()));
    assert!(plan.to_string().contains("lists no CPU: using those of the affinity mask"), "{plan}");
}

/// The reasons that a layout gives, as they appear in the text.
#[test]
fn the_text_explains_the_groups() {
    let tree = Tree::machine(&["0-19", "20-39"], false);
    let why = |profile, concurrency, group_size, numa| {
        let concurrency = Some(concurrency);
        let wishes = Wishes { profile, concurrency, group_size, numa, ..Wishes::default() };
        plan(&tree, "0-39", &wishes).unwrap().layout().why().to_owned()
    };
    use Profile::{Compute, ComputeHeavy, Customized, Neutral};
    assert_eq!(why(Neutral, 16, None, None), "few enough workers for one group");
    assert_eq!(why(Neutral, 40, None, None), "groups with the least excess, the same number on each node");
    assert_eq!(why(Neutral, 40, None, Some(false)), "groups with the least excess");
    assert_eq!(
        why(Neutral, 24, None, None),
        "groups with the least excess; the same number on each node is impossible, or has too much excess"
    );
    assert_eq!(
        why(Neutral, 40, Some(10), None),
        "the fewest groups that are enough, the same number on each node"
    );
    assert_eq!(why(Neutral, 8, None, Some(true)), "NUMA was asked for");
    assert_eq!(why(ComputeHeavy, 40, None, None), "groups as large as possible");
    assert_eq!(why(ComputeHeavy, 40, Some(3), None), "the fewest groups that are enough");
    assert_eq!(why(Customized, 40, Some(3), None), "the fewest groups that are enough");
    assert_eq!(why(Compute, 19, None, None), "groups as large as possible");
    assert!(why(Compute, 20, None, None).contains("half of the CPUs"));
}

#[test]
fn this_machine_has_a_plan() {
    let plan = Plan::for_this_process("/", &Wishes::default()).unwrap();
    assert!(plan.layout().workers() >= plan.access().concurrency());
    assert!(plan.to_string().starts_with("machine: "));
}

/// Otherwise threads run where the kernel puts them.
#[test]
fn cpus_are_chosen_if_the_user_named_some_or_groups_belong_to_nodes() {
    let tree = Tree::machine(&["0-3", "4-7"], false);
    let chooses = |wishes| plan(&tree, "0-7", &wishes).unwrap().chooses_cpus();
    let plain = || Wishes { numa: Some(false), ..Wishes::default() };
    assert!(!chooses(plain()));
    assert!(chooses(Wishes { numa: Some(true), ..Wishes::default() }));
    assert!(chooses(Wishes { one_per_cpu: true, ..plain() }));
    let cpus = Selection { allowed: None, excluded: Some("0".parse().unwrap()) };
    assert!(chooses(Wishes { cpus, ..plain() }));
}
