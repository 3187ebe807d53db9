//! Which of the CPUs that there are a user wants. Knows lists and sets; where the CPUs come from is not its business.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::cpu_set::CpuSet;
use crate::list::{self, End, ListError};

/// CPUs as users write them: numbers and ranges, where negative numbers count from the end, -1 being the last CPU.
///
/// Which CPUs are meant shows only when it meets a set: of CPUs 0-3 and 8-11, `-2--1` is 10-11 and `2--1` is 2-3,8-11. A range
/// between two plain numbers names every CPU in it; one that counts from the end takes what is there between its ends.
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
    /// The CPUs that are meant, of those that are accessible.
    ///
    /// # Errors
    ///
    /// If it names a CPU that is not there, or a range ends before it begins.
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
    /// If the set is empty: a list names something.
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

/// The CPUs that a user allows, all unless given, without those that are excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Nothing but these.
    pub allowed: Option<CpuList>,
    /// None of these.
    pub excluded: Option<CpuList>,
}

impl Selection {
    /// What is left of the accessible CPUs. Both lists count from the end of these, whatever the other one says.
    ///
    /// # Errors
    ///
    /// If a list names a CPU that is not there, or nothing is left.
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

/// Why CPUs could not be chosen as a user said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectError {
    /// This CPU is not there, or not for this process.
    Absent {
        /// The CPU.
        cpu: u32,
        /// Those that are there.
        accessible: CpuSet,
    },
    /// There are not so many CPUs to count from the end.
    TooFar {
        /// How far it counts.
        back: u32,
        /// Those that are there.
        accessible: CpuSet,
    },
    /// The range ends before it begins, with these CPUs.
    Backwards {
        /// The range as it is written.
        range: String,
        /// The CPU that it begins with.
        first: u32,
        /// The CPU that it ends with.
        last: u32,
    },
    /// All that is allowed is excluded.
    NothingLeft {
        /// What is allowed.
        allowed: CpuSet,
        /// What is excluded.
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
