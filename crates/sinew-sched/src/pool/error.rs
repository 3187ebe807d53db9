//! The errors of a pool.

use std::error::Error;
use std::{fmt, io};

use crate::task::TaskRef;

/// Why a pool was not built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A group cannot have this number of workers.
    Workers(usize),
    /// A pool cannot have this number of groups.
    Groups(usize),
    /// A queue cannot have this capacity.
    QueueCapacity(usize),
    /// A thread cannot have this name: it contains a zero byte.
    Name(String),
    /// The driver of this worker could not be made.
    Driver(usize, io::Error),
    /// The thread of this worker did not start. The threads that started before it have ended.
    Thread(usize, io::Error),
    /// The start hook of this worker failed or panicked.
    Start(usize, io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(0) => write!(f, "a group needs a worker: ask for 1 to 64"),
            Self::Workers(count) => {
                write!(f, "a group cannot have {count} workers: ask for 1 to 64, or for several groups")
            }
            Self::Groups(count) => write!(f, "a pool cannot have {count} groups: ask for 1 to 1024"),
            Self::QueueCapacity(capacity) => {
                write!(f, "the shared queue cannot have a capacity of {capacity}: ask for 1 to 2^24")
            }
            Self::Name(name) => write!(f, "threads cannot be called {name:?}: take the zero byte out"),
            Self::Driver(worker, error) => write!(f, "worker {worker} got no driver: {error}"),
            Self::Thread(worker, error) if error.kind() == io::ErrorKind::WouldBlock => write!(
                f,
                "the thread of worker {worker} did not start ({error}): ask for fewer workers, or raise the limit of threads"
            ),
            Self::Thread(worker, error) => write!(f, "the thread of worker {worker} did not start: {error}"),
            Self::Start(worker, error) => write!(
                f,
                "worker {worker} could not begin ({error}): the start hook must succeed on every worker"
            ),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Driver(_, error) | Self::Thread(_, error) | Self::Start(_, error) => Some(error),
            Self::Workers(_) | Self::Groups(_) | Self::QueueCapacity(_) | Self::Name(_) => None,
        }
    }
}

impl From<BuildError> for io::Error {
    fn from(error: BuildError) -> Self {
        let kind = match &error {
            BuildError::Driver(_, error) | BuildError::Thread(_, error) | BuildError::Start(_, error) => {
                error.kind()
            }
            BuildError::Workers(_)
            | BuildError::Groups(_)
            | BuildError::QueueCapacity(_)
            | BuildError::Name(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

/// Why tasks were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The pool is being shut down, or has been.
    Closed,
    /// No worker has this number.
    NoSuchWorker(usize),
    /// No group has this number.
    NoSuchGroup(usize),
}

/// The tasks that a pool refused, and why. Dropping the error discards the tasks.
pub struct SubmitError {
    /// The refused tasks.
    pub tasks: Vec<TaskRef>,
    /// The reason.
    pub refusal: Refusal,
}

impl fmt::Debug for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmitError")
            .field("refusal", &self.refusal)
            .field("tasks", &self.tasks.len())
            .finish()
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refusal {
            Refusal::Closed => write!(f, "the pool takes no new work: it is being shut down"),
            Refusal::NoSuchWorker(worker) => {
                write!(f, "there is no worker {worker}: they are numbered from 0, see `Pool::workers`")
            }
            Refusal::NoSuchGroup(group) => {
                write!(f, "there is no group {group}: they are numbered from 0")
            }
        }
    }
}

impl Error for SubmitError {}
