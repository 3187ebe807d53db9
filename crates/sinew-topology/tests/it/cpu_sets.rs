//! Sets of CPUs, as text and as sets.

use super::set;
use sinew_topology::CpuSet;
use sinew_topology::ListFault;
use std::collections::BTreeSet;

#[test]
fn lists_are_read_and_printed_as_the_kernel_does() {
    let lists = [
        ("", "", 0),
        (" \n", "", 0),
        ("0", "0", 1),
        ("0-3,8,10-11\n", "0-3,8,10-11", 7),
        (" 0 - 3 ,\t8\n", "0-3,8", 5),
        ("10-11,8,0-3,2-4", "0-4,8,10-11", 8),
        ("3,1,2,0", "0-3", 4),
        ("5-5", "5", 1),
        ("1023-1025,5000", "1023-1025,5000", 4),
        ("4294967295", "4294967295", 1),
    ];
    for (text, printed, count) in lists {
        let cpus: CpuSet = text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((cpus.to_string().as_str(), cpus.len()), (printed, count), "{text:?}");
    }
}

#[test]
fn a_list_of_all_numbers_needs_no_memory() {
    let all = set("0-4294967295");
    assert_eq!(all.len(), 1 << 32);
    assert!(all.contains(u32::MAX) && all.contains(0));
    assert_eq!(all.nth((1 << 32) - 1), Some(u32::MAX));
    assert_eq!((&all - &set("7")).to_string(), "0-6,8-4294967295");
    assert!((&all - &all).is_empty());
    assert_eq!(&set("0-4294967294") | &set("4294967295"), all);
}

#[test]
fn an_invalid_list_is_refused_with_the_offset() {
    let wrong = [
        ("x", 0, ListFault::NotANumber, "\"x\""),
        ("0-3,,8", 4, ListFault::NotANumber, "missing at byte 4"),
        ("0,", 2, ListFault::NotANumber, "missing"),
        ("0, 1-x", 3, ListFault::NotANumber, "\"1-x\" at byte 3"),
        ("1 2", 0, ListFault::NotANumber, "\"1 2\""),
        ("0x10", 0, ListFault::NotANumber, "0x10"),
        ("+1", 0, ListFault::NotANumber, "+1"),
        ("0-", 0, ListFault::NotANumber, "0-"),
        ("-", 0, ListFault::NotANumber, "-"),
        ("1-2-3", 0, ListFault::NotANumber, "1-2-3"),
        ("0-7:1/2", 0, ListFault::NotANumber, "0-7:1/2"),
        ("é-ü", 0, ListFault::NotANumber, "é-ü"),
        ("4294967296", 0, ListFault::TooLarge, "4294967296"),
        ("1,99999999999999999999999", 2, ListFault::TooLarge, "greater"),
        ("2,-1", 2, ListFault::Negative, "-1"),
        ("0,3-1", 2, ListFault::Backwards, "3-1"),
    ];
    for (text, at, fault, said) in wrong {
        let error = text.parse::<CpuSet>().unwrap_err();
        assert_eq!((error.fault(), error.offset()), (fault, at), "{text:?}");
        assert!(error.to_string().contains(said), "{text:?}: {error}");
    }
    let long = "x".repeat(1 << 20);
    assert!(long.parse::<CpuSet>().unwrap_err().to_string().len() < 200);
}

/// Compares all sets of a few numbers with the sets of std.
#[test]
fn operations_agree_with_those_of_std() {
    let few = |bits: u32| (0..6).filter(move |bit| bits >> bit & 1 == 1);
    // Consecutive numbers, numbers with gaps, and numbers at both ends.
    let spread = [0, 1, 2, 64, u32::MAX - 1, u32::MAX];
    for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
        let numbers = |bits| few(bits).map(|bit: u32| spread[bit as usize]);
        let (x, y): (CpuSet, CpuSet) = (numbers(a).collect(), numbers(b).collect());
        let (p, q): (BTreeSet<u32>, BTreeSet<u32>) = (numbers(a).collect(), numbers(b).collect());
        let same = |ours: &CpuSet, theirs: BTreeSet<u32>| {
            assert!(ours.iter().eq(theirs.iter().copied()), "{x} {y}: {ours}");
            assert_eq!(ours, &theirs.iter().copied().collect());
            assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
            assert_eq!((ours.first(), ours.last()), (theirs.first().copied(), theirs.last().copied()));
            assert!((0..7).all(|nth| ours.nth(nth) == theirs.iter().nth(nth).copied()));
            assert!(spread.iter().chain(&[3, 63]).all(|cpu| ours.contains(*cpu) == theirs.contains(cpu)));
            assert_eq!(ours, &ours.to_string().parse().unwrap());
        };
        same(&x, p.clone());
        same(&(&x | &y), &p | &q);
        same(&(&x & &y), &p & &q);
        same(&(&x - &y), &p - &q);
        assert_eq!(x.is_subset(&y), p.is_subset(&q));
    }
}

#[test]
fn ranges_may_be_empty_touch_and_overlap() {
    #[expect(clippy::reversed_empty_ranges, reason = "the test is about such ranges")]
    let none = CpuSet::from_range(3..=2);
    assert!(none.is_empty());
    assert_eq!(CpuSet::from_ranges([4..=6, 0..=1, 2..=3, 5..=9]).to_string(), "0-9");
    assert_eq!(format!("{:?}", set("1-2")), "CpuSet(1-2)");
}
