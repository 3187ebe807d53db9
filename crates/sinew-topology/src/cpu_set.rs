//! Sets of CPUs. Knows numbers, and nothing about machines: other modules know whether a CPU
//! exists.

use std::fmt;
use std::ops::{BitAnd, BitOr, RangeInclusive, Sub};
use std::str::FromStr;

use crate::list::{self, ListError};

/// A set of CPUs, by their kernel numbers. It parses and prints the kernel's notation of lists.
///
/// It may contain any number of 32 bits. Its memory grows with the number of gaps, not with the
/// number of CPUs.
///
/// # Examples
///
/// ```
/// # use sinew_topology::CpuSet;
/// let node: CpuSet = "0-3,8-11".parse()?;
/// let mine: CpuSet = [2, 3, 4].into_iter().collect();
/// assert_eq!((&node & &mine).to_string(), "2-3");
/// assert_eq!((&node - &mine).to_string(), "0-1,8-11");
/// assert_eq!(node.len(), 8);
/// # Ok::<(), sinew_topology::ListError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// # Invariant
    ///
    /// Ascending, with at least one absent CPU between two neighboring spans.
    spans: Vec<Span>,
}

/// CPUs without a gap, both ends included. The first is never greater than the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    first: u32,
    last: u32,
}

impl CpuSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a set of all CPUs of a range; an empty range gives an empty set.
    #[must_use]
    pub fn from_range(range: RangeInclusive<u32>) -> Self {
        Self::from_ranges([range])
    }

    /// Creates a set of all CPUs of some ranges, which may touch and overlap.
    #[must_use]
    pub fn from_ranges(ranges: impl IntoIterator<Item = RangeInclusive<u32>>) -> Self {
        let filled = ranges.into_iter().filter(|range| !range.is_empty());
        Self::from_spans(filled.map(|range| Span { first: *range.start(), last: *range.end() }).collect())
    }

    fn from_spans(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable_by_key(|span| span.first);
        let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            match merged.last_mut() {
                Some(before) if span.first <= before.last.saturating_add(1) => {
                    before.last = before.last.max(span.last);
                }
                _ => merged.push(span),
            }
        }
        Self { spans: merged }
    }

    /// Returns whether the set contains a CPU.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        let after = self.spans.partition_point(|span| span.first <= cpu);
        after > 0 && cpu <= self.spans[after - 1].last
    }

    /// Returns the number of CPUs in the set, or `usize::MAX` if it has more.
    #[must_use]
    pub fn len(&self) -> usize {
        let count: u64 = self.spans.iter().map(|span| span.count()).sum();
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the lowest CPU.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.spans.first().map(|span| span.first)
    }

    /// Returns the highest CPU.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.spans.last().map(|span| span.last)
    }

    /// Returns the CPU at an index, counted from 0 in ascending order.
    #[must_use]
    pub fn nth(&self, index: usize) -> Option<u32> {
        let mut left = index as u64;
        for span in &self.spans {
            if left < span.count() {
                return Some(span.first + left as u32);
            }
            left -= span.count();
        }
        None
    }

    /// Returns all CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.spans.iter().flat_map(|span| span.first..=span.last)
    }

    /// Returns whether the other set contains all CPUs of this set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        (self - other).is_empty()
    }

    fn without(&self, other: &Self) -> Self {
        self & &other.complement()
    }

    /// Returns the set of all numbers that are not in this set.
    fn complement(&self) -> Self {
        let mut spans = Vec::with_capacity(self.spans.len() + 1);
        let mut next = Some(0);
        for span in &self.spans {
            if let Some(first) = next.filter(|first| *first < span.first) {
                spans.push(Span { first, last: span.first - 1 });
            }
            next = span.last.checked_add(1);
        }
        spans.extend(next.map(|first| Span { first, last: u32::MAX }));
        Self { spans }
    }
}

impl Span {
    fn count(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }

    fn overlap(self, other: Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Self { first, last })
    }
}

/// Returns the CPUs that are in at least one of the sets.
impl BitOr for &CpuSet {
    type Output = CpuSet;

    fn bitor(self, other: &CpuSet) -> CpuSet {
        CpuSet::from_spans(self.spans.iter().chain(&other.spans).copied().collect())
    }
}

/// Returns the CPUs that are in both sets.
impl BitAnd for &CpuSet {
    type Output = CpuSet;

    fn bitand(self, other: &CpuSet) -> CpuSet {
        let (mut mine, mut theirs) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        let mut spans = Vec::new();
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            spans.extend(a.overlap(**b));
            if a.last < b.last {
                mine.next()
            } else {
                theirs.next()
            };
        }
        CpuSet { spans }
    }
}

/// Returns the CPUs that are only in the first set.
impl Sub for &CpuSet {
    type Output = CpuSet;

    fn sub(self, other: &CpuSet) -> CpuSet {
        self.without(other)
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self::from_spans(cpus.into_iter().map(|cpu| Span { first: cpu, last: cpu }).collect())
    }
}

/// Parses a list such as `0-3,8`, as the kernel prints it. A list without any CPU is the empty set.
/// Spaces around numbers are ignored.
impl FromStr for CpuSet {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        Ok(Self::from_ranges(list::kernel(text)?))
    }
}

/// Prints the set as the kernel does: `0-3,8`, and nothing for the empty set.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Span { first, last }) in self.spans.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}
