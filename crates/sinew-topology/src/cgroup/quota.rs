//! The CPU time of a control group. Knows the two formats of kernels, not where the files are.

use std::cmp::Ordering;
use std::fmt;

/// The kernels' default period, in microseconds.
const PERIOD: u64 = 100_000;

/// The CPU time that a control group may use per period.
///
/// Quotas are ordered by the share of CPU time that they grant.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// # Invariant
    ///
    /// Neither is 0.
    quota: u64,
    period: u64,
}

impl Quota {
    /// Creates a quota of `quota_us` microseconds of CPU time per `period_us` microseconds. Returns
    /// `None` if either is 0, which no kernel grants.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sinew_topology::Quota;
    /// let quota = Quota::new(250_000, 100_000).unwrap();
    /// assert_eq!(quota.cpus(), 3);
    /// assert_eq!(quota.to_string(), "2.50 CPUs");
    /// ```
    #[must_use]
    pub fn new(quota_us: u64, period_us: u64) -> Option<Self> {
        (quota_us > 0 && period_us > 0).then_some(Self { quota: quota_us, period: period_us })
    }

    /// Returns how many CPUs are needed to use up the quota: at least 1.
    #[must_use]
    pub fn cpus(self) -> usize {
        usize::try_from(self.quota.div_ceil(self.period)).unwrap_or(usize::MAX)
    }

    /// Parses the quota of a v2 group: `max 100000` for no limit, or quota and period.
    pub(super) fn from_v2(max: &str) -> Result<Option<Self>, String> {
        let words: Vec<_> = max.split_whitespace().collect();
        let (quota, period) = match words.as_slice() {
            [quota] => (*quota, PERIOD),
            [quota, period] => (*quota, number(period)?),
            _ => return Err("it must have a quota and a period".to_owned()),
        };
        match quota {
            "max" => Ok(None),
            quota => Self::checked(number(quota)?, period),
        }
    }

    /// Parses the quota of a v1 group from its two files. A negative quota means no limit.
    pub(super) fn from_v1(quota: &str, period: Option<&str>) -> Result<Option<Self>, String> {
        if quota.trim().strip_prefix('-').is_some_and(|digits| number(digits).is_ok()) {
            return Ok(None);
        }
        Self::checked(number(quota)?, period.map_or(Ok(PERIOD), number)?)
    }

    fn checked(quota: u64, period: u64) -> Result<Option<Self>, String> {
        match Self::new(quota, period) {
            Some(quota) => Ok(Some(quota)),
            None => Err(format!("{quota} µs in {period} µs is not a valid quota")),
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("{:?} is not a time in microseconds", crate::list::shorten(text)))
}

impl Ord for Quota {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |one: u64, other: u64| u128::from(one) * u128::from(other);
        cross(self.quota, other.period).cmp(&cross(other.quota, self.period))
    }
}

impl PartialOrd for Quota {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quota {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quota {}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} CPUs", self.quota as f64 / self.period as f64)
    }
}
