//! How workers of a group share what anyone may run.

use std::fmt;
use std::str::FromStr;

/// How the workers of a group share tasks that anyone may run. Tasks that must run on a given worker go there in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Each worker has a deque of its own, where it takes the newest and others steal the oldest; what comes from outside lies in the
    /// group's queue. Children run soon and where they were made, and few of them are begun at a time.
    #[default]
    Local,
    /// All tasks lie in the group's queue, first in, first out. They begin in the order they were made in, however long they run.
    Shared,
}

/// A strategy that there is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseStrategyError(String);

impl FromStr for Strategy {
    type Err = ParseStrategyError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "local" => Ok(Self::Local),
            "shared" => Ok(Self::Shared),
            other => Err(ParseStrategyError(other.to_owned())),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Shared => "shared",
        })
    }
}

impl fmt::Display for ParseStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no strategy {:?}: it is `local` or `shared`", self.0)
    }
}

impl std::error::Error for ParseStrategyError {}
