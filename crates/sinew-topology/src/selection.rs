//! The CPUs that a user chooses. Knows lists and sets, not where the CPUs come from.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::cpu_set::CpuSet;
use crate::list::{self, End, ListError};

/// CPUs as users write them: numbers and ranges. Negative numbers count from the end, and -1 is the
/// last CPU.
///
/// A list names CPUs only together with a set: of CPUs 0-3 and 8-11, `-2--1` is 10-11 and `2--1` is
/// 2-3,8-11. A range between two plain numbers names every CPU in it. A range with an end that
/// counts from the end names only the CPUs that exist between its ends.
///
/// # Examples
///
/// ```
/// # use sinew_topology::CpuSet;
/// # use sinew_topology::CpuList;
/// let accessible: CpuSet = "0-3,8-11".parse()?;
/// let list: CpuList = "0,-2--1".parse()?;
/// assert_eq!(list.resolve(&accessible)?.to_string(), "0,10-11");
///
/// let absent: CpuList = "4".parse()?;
/// let error = absent.resolve(&accessible).unwrap_err();
/// assert!(error.to_string().contains("CPU 4"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CpuList {
    /// # Invariant
    ///
    /// Not empty.
    ranges: Vec<(End, End)>,
}

impl CpuList {
    /// Returns the CPUs that the list names, of those that are accessible.
    ///
    /// # Errors
    ///
    /// Returns an error if the list names a CPU that is not accessible, or if a range ends before
    /// it begins.
    pub fn resolve(&self, accessible: &CpuSet) -> Result<CpuSet, SelectError> {
        let mut chosen = CpuSet::new();
        for range in &self.ranges {
            chosen = &chosen | &resolve_range(*range, accessible)?;
        }
        Ok(chosen)
    }
}

fn resolve_range((from, to): (End, End), accessible: &CpuSet) -> Result<CpuSet, SelectError> {
    let (first, last) = (resolve_end(from, accessible)?, resolve_end(to, accessible)?);
    if first > last {
        return Err(SelectError::Backwards { range: format!("{from}-{to}"), first, last });
    }
    let range = CpuSet::from_range(first..=last);
    let is_plain = matches!((from, to), (End::Number(_), End::Number(_)));
    match (&range - accessible).first() {
        Some(cpu) if is_plain => Err(SelectError::Absent { cpu, accessible: accessible.clone() }),
        _ => Ok(&range & accessible),
    }
}

fn resolve_end(end: End, accessible: &CpuSet) -> Result<u32, SelectError> {
    match end {
        End::Number(cpu) if accessible.contains(cpu) => Ok(cpu),
        End::Number(cpu) => Err(SelectError::Absent { cpu, accessible: accessible.clone() }),
        End::FromLast(back) => {
            let index = accessible.len().checked_sub(back as usize);
            let cpu = index.and_then(|index| accessible.nth(index));
            cpu.ok_or_else(|| SelectError::TooFar { back, accessible: accessible.clone() })
        }
    }
}

impl FromStr for CpuList {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        Ok(Self { ranges: list::with_ends(text)? })
    }
}

impl TryFrom<&CpuSet> for CpuList {
    type Error = ListError;

    /// # Errors
    ///
    /// Returns an error if the set is empty: a list names at least one CPU.
    fn try_from(set: &CpuSet) -> Result<Self, ListError> {
        set.to_string().parse()
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (from, to)) in self.ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match from == to {
                true => write!(f, "{comma}{from}")?,
                false => write!(f, "{comma}{from}-{to}")?,
            }
        }
        Ok(())
    }
}

/// A user's choice of CPUs: those that are allowed, which are all unless given, without those that
/// are excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Only these CPUs are used.
    pub allowed: Option<CpuList>,
    /// None of these CPUs is used.
    pub excluded: Option<CpuList>,
}

impl Selection {
    /// Returns the accessible CPUs that are left. Both lists count from the end of `accessible`.
    ///
    /// # Errors
    ///
    /// Returns an error if a list names a CPU that is not accessible, or if no CPU is left.
    ///
    /// ```
    /// # use sinew_topology::{CpuSet, Selection};
    ///
    /// let selection = Selection { allowed: Some("0--2".parse()?), excluded: Some("1".parse()?) };
    /// assert_eq!(selection.apply(&CpuSet::from_range(0..=7))?.to_string(), "0,2-6");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(&self, accessible: &CpuSet) -> Result<CpuSet, SelectError> {
        let resolve = |list: &Option<CpuList>| list.as_ref().map(|list| list.resolve(accessible)).transpose();
        let allowed = resolve(&self.allowed)?.unwrap_or_else(|| accessible.clone());
        let excluded = resolve(&self.excluded)?.unwrap_or_default();
        let left = &allowed - &excluded;
        if left.is_empty() {
            return Err(SelectError::NothingLeft { allowed, excluded });
        }
        Ok(left)
    }
}

/// The reason why a user's choice of CPUs is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectError {
    /// A CPU does not exist, or this process may not use it.
    Absent {
        /// The CPU.
        cpu: u32,
        /// The accessible CPUs.
        accessible: CpuSet,
    },
    /// A number counts further from the end than there are CPUs.
    TooFar {
        /// The number, counted from the end.
        back: u32,
        /// The accessible CPUs.
        accessible: CpuSet,
    },
    /// A range ends before it begins, on this machine.
    Backwards {
        /// The range as it is written.
        range: String,
        /// The CPU at its beginning.
        first: u32,
        /// The CPU at its end.
        last: u32,
    },
    /// All allowed CPUs are excluded.
    NothingLeft {
        /// The allowed CPUs.
        allowed: CpuSet,
        /// The excluded CPUs.
        excluded: CpuSet,
    },
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { cpu, accessible } => {
                write!(f, "CPU {cpu} is not accessible to this process: choose from {accessible}")
            }
            Self::TooFar { back, accessible } => write!(
                f,
                "-{back} counts further from the end than there are CPUs: {} are accessible, {accessible}",
                accessible.len()
            ),
            Self::Backwards { range, first, last } => {
                write!(f, "the range {range} ends before it begins: it is CPU {first} to CPU {last} here")
            }
            Self::NothingLeft { allowed, excluded } => {
                write!(f, "no CPU is left: {allowed} allowed, {excluded} excluded; exclude fewer")
            }
        }
    }
}

impl Error for SelectError {}
