//! The names of the strategies by which workers of a group share tasks. Their effects are in
//! `worker/` and `idle/`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use sinew_topology::nearest;

/// How the workers of a group share tasks (in `sinew`: fibers) that any worker may run. Tasks that
/// must run on a given worker go to that worker with either strategy.
///
/// # Which to choose
///
/// [`Local`](Self::Local), the default, is for work that forks and joins. A parent that waits finds
/// its newest child at hand, and few fibers are begun at a time: a tree with a million leaves, all
/// of whose fibers wait for their children, takes 405 stacks with `Local` and 108,000 with
/// `Shared`.
///
/// [`Shared`](Self::Shared) is for fibers that are requests: the one that came first is taken
/// first.
///
/// # What order to expect
///
/// With `Shared`, tasks are taken in the order in which they were made. That holds within a group:
/// another group has a queue of its own, and tasks that only the group may run have one too.
/// Several workers take them in order and run them side by side, so the second may be done before
/// the first.
///
/// With `Local`, a task may wait while newer ones are made, but not for ever. An idle worker of the
/// group takes the oldest. A busy worker whose tasks keep making more tasks takes one from the
/// group's queue, where tasks from outside wait, once in 64 turns, and the oldest of its own once
/// in 1,024 turns. A turn is a task that runs until it ends, waits or yields.
///
/// # Examples
///
/// ```
/// # use sinew_sched::Strategy;
/// let strategy: Strategy = "shared".parse()?;
/// assert_eq!(strategy, Strategy::Shared);
///
/// let error = "Shard".parse::<Strategy>().unwrap_err();
/// assert!(error.to_string().contains("did you mean `shared`?"));
/// # Ok::<(), sinew_sched::ParseStrategyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// `local`: each worker has a deque of its own, where it takes the newest task and other
    /// workers steal the oldest; tasks from outside wait in the group's queue. Children run soon
    /// and on the worker that made them, and few of them are begun at a time.
    #[default]
    Local,
    /// `shared`: all tasks wait in the group's queue, first in, first out. They begin in the order
    /// in which they were made, however long they run.
    Shared,
}

impl Strategy {
    /// All strategies, the default first.
    pub const ALL: [Self; 2] = [Self::Local, Self::Shared];

    /// Returns the name, as it is parsed and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = ParseStrategyError;

    fn from_str(name: &str) -> Result<Self, ParseStrategyError> {
        let found = Self::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| ParseStrategyError { name: name.to_owned() })
    }
}

/// The error of parsing a [`Strategy`]: no strategy has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseStrategyError {
    name: String,
}

impl ParseStrategyError {
    /// Returns the strategy with the most similar name, if one is similar enough.
    #[must_use]
    pub fn nearest(&self) -> Option<Strategy> {
        nearest(&self.name, &Strategy::ALL, Strategy::name)
    }
}

impl fmt::Display for ParseStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no strategy {:?}: ", self.name)?;
        match self.nearest() {
            Some(strategy) => write!(f, "did you mean `{strategy}`?"),
            None => write!(f, "it is `local` or `shared`"),
        }
    }
}

impl Error for ParseStrategyError {}
