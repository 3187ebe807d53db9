//! Profiles: the kinds of work of a pool. Knows their names; `layout.rs` computes what follows from
//! them.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::list::shorten;
use crate::spelling;

/// The kind of work of a pool, which decides how its workers are grouped.
///
/// Workers of one group share queues. Large groups balance load well; in small groups, workers
/// interfere with each other less. The more of its time a task waits instead of computing, the
/// smaller the groups may be.
///
/// # Examples
///
/// ```
/// # use sinew_topology::Profile;
/// let profile: Profile = "io-heavy".parse()?;
/// assert_eq!(profile, Profile::IoHeavy);
///
/// let error = "io-hevy".parse::<Profile>().unwrap_err();
/// assert!(error.to_string().contains("did you mean `io-heavy`?"));
/// # Ok::<(), sinew_topology::ParseProfileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Tasks compute for a long time: groups as large as possible, across nodes.
    ComputeHeavy,
    /// Tasks compute: groups as large as possible, each on one node if at least half of the CPUs
    /// are used.
    Compute,
    /// A mix of both: groups of 16 to 31 workers.
    #[default]
    Neutral,
    /// Tasks wait: groups of 12 to 23 workers.
    Io,
    /// Tasks hardly compute: groups of 8 to 15 workers.
    IoHeavy,
    /// The user gives group size and NUMA.
    Customized,
}

impl Profile {
    /// All profiles, from the one that computes most to the one that computes least, and
    /// [`Customized`](Self::Customized) last.
    pub const ALL: [Self; 6] =
        [Self::ComputeHeavy, Self::Compute, Self::Neutral, Self::Io, Self::IoHeavy, Self::Customized];

    /// Returns the name that it is parsed from and printed as.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ComputeHeavy => "compute-heavy",
            Self::Compute => "compute",
            Self::Neutral => "neutral",
            Self::Io => "io",
            Self::IoHeavy => "io-heavy",
            Self::Customized => "customized",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = ParseProfileError;

    fn from_str(name: &str) -> Result<Self, ParseProfileError> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| ParseProfileError { name: shorten(name) })
    }
}

/// The error for a name that no profile has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProfileError {
    name: String,
}

impl ParseProfileError {
    /// Returns the profile with the most similar name, if one is similar enough.
    #[must_use]
    pub fn nearest(&self) -> Option<Profile> {
        spelling::nearest(&self.name, &Profile::ALL, Profile::name)
    }
}

impl fmt::Display for ParseProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no profile {:?}: ", self.name)?;
        if let Some(profile) = self.nearest() {
            return write!(f, "did you mean `{profile}`?");
        }
        let names = Profile::ALL.map(Profile::name);
        write!(f, "choose from {}", names.join(", "))
    }
}

impl Error for ParseProfileError {}
