//! The arithmetic of profiles: examples computed by hand, and a second implementation of the rules
//! that tries all sizes.

use sinew_topology::Profile;
use sinew_topology::{Demand, Layout, LayoutError};

const NODES: [usize; 4] = [1, 2, 4, 8];

fn demand(profile: Profile, concurrency: usize, nodes: usize, cpus: usize) -> Demand {
    Demand { profile, concurrency, nodes, cpus, group_size: None, numa: None }
}

/// Returns the number of groups, their size, and whether NUMA is on.
fn shape(layout: &Layout) -> (usize, usize, bool) {
    (layout.groups(), layout.group_size(), layout.is_numa())
}

#[test]
fn examples_by_hand() {
    use Profile::{Compute, ComputeHeavy, Io, IoHeavy, Neutral};
    let examples = [
        // Compute-heavy: the fewest groups of up to 64 workers.
        (demand(ComputeHeavy, 1, 1, 1), (1, 1, false)),
        (demand(ComputeHeavy, 64, 4, 64), (1, 64, false)),
        (demand(ComputeHeavy, 65, 1, 65), (2, 33, false)),
        (demand(ComputeHeavy, 130, 2, 130), (3, 44, false)),
        (demand(ComputeHeavy, 256, 8, 256), (4, 64, false)),
        // Compute: per node if the workers need at least half of the CPUs.
        (demand(Compute, 64, 1, 64), (1, 64, false)),
        (demand(Compute, 32, 2, 64), (2, 16, true)),
        (demand(Compute, 31, 2, 64), (1, 31, false)),
        (demand(Compute, 3, 2, 4), (2, 2, true)),
        (demand(Compute, 256, 2, 256), (4, 64, true)),
        (demand(Compute, 260, 2, 256), (6, 44, true)),
        // Neutral: 16 to 31. 17 workers are one group of 17; 33 are three of 16 (48), or two of 17
        // (34).
        (demand(Neutral, 16, 2, 16), (1, 16, false)),
        (demand(Neutral, 17, 1, 17), (1, 17, false)),
        (demand(Neutral, 32, 1, 32), (2, 16, false)),
        (demand(Neutral, 33, 1, 33), (2, 17, false)),
        (demand(Neutral, 64, 1, 64), (4, 16, false)),
        (demand(Neutral, 76, 2, 76), (4, 19, true)),
        // Two groups of 16 would be 8 in excess, more than 2: one group across the nodes.
        (demand(Neutral, 24, 2, 24), (1, 24, false)),
        // Eight nodes need 8 groups of 16: for 113 workers that is 15 in excess, more than 11; for
        // 117 it is 11 in excess, just within the limit.
        (demand(Neutral, 113, 8, 128), (6, 19, false)),
        (demand(Neutral, 117, 8, 128), (8, 16, true)),
        // 5 groups of 23, 115 workers, have the least excess with NUMA off. On 2 nodes it is 4 of
        // 29 or 6 of 20.
        (demand(Neutral, 115, 1, 115), (5, 23, false)),
        (demand(Neutral, 115, 2, 115), (4, 29, true)),
        // Io: 12 to 23. Io-heavy: 8 to 15.
        (demand(Io, 12, 2, 12), (1, 12, false)),
        (demand(Io, 24, 2, 24), (2, 12, true)),
        (demand(Io, 13, 2, 24), (1, 13, false)),
        (demand(IoHeavy, 8, 2, 8), (1, 8, false)),
        (demand(IoHeavy, 9, 2, 16), (1, 9, false)),
        (demand(IoHeavy, 16, 2, 16), (2, 8, true)),
        (demand(IoHeavy, 64, 8, 64), (8, 8, true)),
        (demand(IoHeavy, 76, 2, 76), (6, 13, true)),
        (demand(IoHeavy, 76, 1, 76), (7, 11, false)),
    ];
    for (demand, expected) in examples {
        assert_eq!(shape(&demand.layout().unwrap()), expected, "{demand:?}");
    }
}

/// Returns all sizes and numbers of groups, up to 256 workers in groups of 8, that are enough, and
/// of which one group less is not.
fn candidates(concurrency: usize, sizes: std::ops::RangeInclusive<usize>) -> Vec<(usize, usize)> {
    let all = sizes.flat_map(|size| (1..=32).map(move |groups| (groups, size)));
    all.filter(|(groups, size)| groups * size >= concurrency && (groups - 1) * size < concurrency).collect()
}

fn least(candidates: impl IntoIterator<Item = (usize, usize)>) -> Option<(usize, usize)> {
    candidates.into_iter().min_by_key(|(groups, size)| (groups * size, *size))
}

/// Returns the fewest groups of up to 64, then the smallest size.
fn fewest(workers: usize) -> (usize, usize) {
    let all = (1..=4).flat_map(|groups| (1..=64).map(move |size| (groups, size)));
    all.filter(|(groups, size)| groups * size >= workers).min().unwrap()
}

fn restated(demand: &Demand) -> (usize, usize, bool) {
    let Demand { profile, concurrency, nodes, cpus, .. } = *demand;
    let (low, high) = match profile {
        Profile::Neutral => (16, 31),
        Profile::Io => (12, 23),
        Profile::IoHeavy => (8, 15),
        Profile::Compute if nodes > 1 && concurrency as f64 >= cpus as f64 / 2.0 => {
            let per_node = (1..).find(|workers| workers * nodes >= concurrency).unwrap();
            let (groups, size) = fewest(per_node);
            return (groups * nodes, size, true);
        }
        _ => {
            let (groups, size) = fewest(concurrency);
            return (groups, size, false);
        }
    };
    if concurrency <= low {
        return (1, concurrency, false);
    }
    let all = candidates(concurrency, low..=high);
    let even = least(all.iter().copied().filter(|(groups, _)| nodes > 1 && groups % nodes == 0));
    match even {
        Some((groups, size)) if (groups * size - concurrency) * 10 <= concurrency => (groups, size, true),
        _ => least(all).map(|(groups, size)| (groups, size, false)).unwrap(),
    }
}

#[test]
fn every_profile_agrees_with_a_second_implementation() {
    for profile in Profile::ALL.into_iter().filter(|profile| *profile != Profile::Customized) {
        for (nodes, concurrency) in NODES.iter().flat_map(|nodes| (1..=256).map(move |count| (*nodes, count)))
        {
            // The number of CPUs matters to only one profile.
            let all = [concurrency, 2 * concurrency, 2 * concurrency + 1, 256];
            for cpus in all.into_iter().take(if profile == Profile::Compute { 4 } else { 1 }) {
                let demand = demand(profile, concurrency, nodes, cpus);
                assert_eq!(shape(&demand.layout().unwrap()), restated(&demand), "{demand:?}");
            }
        }
    }
}

/// For any demand: enough workers, sizes as given or up to 64, the same number of groups on each
/// node.
#[test]
fn every_layout_is_sound() {
    let sizes = [None, Some(1), Some(2), Some(7), Some(16), Some(31), Some(64)];
    let switches = [None, Some(false), Some(true)];
    for (profile, group_size) in
        Profile::ALL.into_iter().flat_map(|profile| sizes.map(|size| (profile, size)))
    {
        if profile == Profile::Customized && group_size.is_none() {
            continue;
        }
        for (numa, nodes) in switches.into_iter().flat_map(|numa| NODES.map(|nodes| (numa, nodes))) {
            for concurrency in 1..=256 {
                let demand = Demand { profile, concurrency, nodes, cpus: 256, group_size, numa };
                check(&demand, &demand.layout().unwrap());
            }
        }
    }
}

fn check(demand: &Demand, layout: &Layout) {
    assert!(layout.workers() >= demand.concurrency, "{demand:?} {layout:?}");
    assert_eq!(layout.workers(), layout.groups() * layout.group_size());
    assert!((1..=64).contains(&layout.group_size()), "{demand:?} {layout:?}");
    assert_eq!(demand.group_size.unwrap_or(layout.group_size()), layout.group_size(), "{demand:?}");
    assert_eq!(demand.numa.unwrap_or(layout.is_numa()), layout.is_numa(), "{demand:?} {layout:?}");
    // No group could be left out, or no group on each node.
    let step = if layout.is_numa() { demand.nodes } else { 1 };
    assert!((layout.groups() - step) * layout.group_size() < demand.concurrency, "{demand:?} {layout:?}");
    assert!(!layout.why().is_empty());
    let mut on_node = vec![0; demand.nodes];
    for group in 0..layout.groups() {
        assert_eq!(layout.node(group).is_some(), layout.is_numa());
        layout.node(group).inspect(|node| on_node[*node] += 1);
    }
    let each = if layout.is_numa() { layout.groups() / demand.nodes } else { 0 };
    assert_eq!(on_node, vec![each; demand.nodes], "{demand:?} {layout:?}");
    assert_eq!(layout.node(layout.groups()), None);
}

#[test]
fn a_given_size_is_kept_exactly() {
    let sized = |profile, concurrency, nodes, size| Demand {
        group_size: Some(size),
        ..demand(profile, concurrency, nodes, concurrency)
    };
    let examples = [
        (sized(Profile::Neutral, 10, 1, 1), (10, 1, false)),
        (sized(Profile::Neutral, 2, 1, 8), (1, 8, false)),
        (sized(Profile::ComputeHeavy, 2, 1, 8), (1, 8, false)),
        (sized(Profile::ComputeHeavy, 20, 2, 8), (3, 8, false)),
        // Ten on each node.
        (sized(Profile::Compute, 20, 2, 8), (4, 8, true)),
        // Three groups for two nodes; two groups; four, but with too much in excess.
        (sized(Profile::Io, 20, 2, 8), (3, 8, false)),
        (sized(Profile::Io, 15, 2, 8), (2, 8, true)),
        (sized(Profile::Io, 28, 2, 9), (4, 9, false)),
        (sized(Profile::Customized, 20, 2, 8), (3, 8, false)),
    ];
    for (demand, expected) in examples {
        assert_eq!(shape(&demand.layout().unwrap()), expected, "{demand:?}");
    }
}

#[test]
fn numa_is_as_it_is_set() {
    let with = |profile, concurrency, nodes, numa| Demand {
        numa: Some(numa),
        ..demand(profile, concurrency, nodes, concurrency)
    };
    let examples = [
        (with(Profile::Neutral, 76, 2, false), (4, 19, false)),
        (with(Profile::Compute, 64, 2, false), (1, 64, false)),
        (with(Profile::Neutral, 76, 2, true), (4, 19, true)),
        (with(Profile::Neutral, 4, 2, true), (2, 2, true)),
        (with(Profile::Neutral, 1, 4, true), (4, 1, true)),
        // Groups of 16 would be 128 workers, so there are 13 on each node instead.
        (with(Profile::Neutral, 100, 8, true), (8, 13, true)),
        (with(Profile::Neutral, 4, 1, true), (1, 4, true)),
        (with(Profile::Neutral, 64, 1, true), (4, 16, true)),
        (with(Profile::ComputeHeavy, 65, 2, true), (2, 33, true)),
        (with(Profile::ComputeHeavy, 200, 2, true), (4, 50, true)),
    ];
    for (demand, expected) in examples {
        assert_eq!(shape(&demand.layout().unwrap()), expected, "{demand:?}");
    }
    let custom = Demand { group_size: Some(5), ..with(Profile::Customized, 12, 2, true) };
    assert_eq!(shape(&custom.layout().unwrap()), (4, 5, true));
}

#[test]
fn numbers_out_of_bounds_are_refused() {
    let good = demand(Profile::Neutral, 4, 1, 4);
    let huge = usize::MAX;
    let wrong = [
        (Demand { concurrency: 0, ..good }, LayoutError::Concurrency(0), "1 to 65536"),
        (Demand { concurrency: huge, ..good }, LayoutError::Concurrency(huge), "1 to 65536"),
        (Demand { group_size: Some(0), ..good }, LayoutError::GroupSize(0), "1 to 64"),
        (Demand { group_size: Some(65), ..good }, LayoutError::GroupSize(65), "1 to 64"),
        (Demand { nodes: 0, ..good }, LayoutError::Nodes(0), "nodes"),
        (Demand { nodes: huge, ..good }, LayoutError::Nodes(huge), "nodes"),
        (Demand { profile: Profile::Customized, ..good }, LayoutError::NoGroupSize, "choose 1 to 64"),
    ];
    for (demand, error, said) in wrong {
        assert_eq!(demand.layout(), Err(error));
        assert!(error.to_string().contains(said), "{error}");
    }
    let most = Demand { concurrency: 65536, cpus: huge, nodes: 65536, numa: Some(true), ..good };
    assert_eq!(shape(&most.layout().unwrap()), (65536, 1, true));
}
