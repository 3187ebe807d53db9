//! Profiles: what kind of work a pool is for. Knows their names; what follows from them is in `layout.rs`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::list::shorten;
use crate::spelling;

/// What kind of work a pool is for, which decides how its workers are grouped.
///
/// Workers of one group share queues: large groups balance load well, small ones get in each other's way less. The more
/// of its time a task waits rather than computes, the smaller the groups may be.
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
    /// Tasks compute for long: groups as large as can be, across nodes.
    ComputeHeavy,
    /// Tasks compute: groups as large as can be, each on a node if the machine is used for the most part.
    Compute,
    /// Some of both: groups of 16 to 31.
    #[default]
    Neutral,
    /// Tasks wait: groups of 12 to 23.
    Io,
    /// Tasks hardly compute: groups of 8 to 15.
    IoHeavy,
    /// Group size and NUMA as they are given.
    Customized,
}

impl Profile {
    /// All profiles, from much to little computing.
    pub const ALL: [Self; 6] =
        [Self::ComputeHeavy, Self::Compute, Self::Neutral, Self::Io, Self::IoHeavy, Self::Customized];

    /// The name that it is read from and printed as.
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

/// No profile has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProfileError {
    name: String,
}

impl ParseProfileError {
    /// The profile whose name is nearest, if any is near.
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
