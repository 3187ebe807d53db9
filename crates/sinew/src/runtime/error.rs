//! Why a runtime did not start.

use std::error::Error;
use std::fmt;

use sinew_coroutine::LARGEST_CLASS;
use sinew_sched::BuildError;
use sinew_sched::topology::PlanError;

/// Why a runtime did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The workers did not start.
    Workers(BuildError),
    /// Groups could not be laid out for this machine.
    Plan(PlanError),
    /// Groups were given, and this setting, which says how to lay them out, besides.
    Contradiction(&'static str),
    /// A variable of the environment makes no sense.
    #[non_exhaustive]
    Environment {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would make sense, in words.
        wanted: String,
    },
    /// No stack is so large as all were to be.
    StackSize(usize),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(error) => write!(f, "{error}"),
            Self::Plan(error) => write!(f, "{error}"),
            Self::Contradiction(setting) => {
                write!(
                    f,
                    "`{setting}` says how to lay groups out, but they are given: leave one of the two out"
                )
            }
            Self::Environment { name, value, wanted } => {
                write!(f, "{name} is {value:?} in the environment: set it to {wanted}, or not at all")
            }
            Self::StackSize(size) => {
                write!(f, "stacks of {size} bytes were asked for: the largest has {LARGEST_CLASS}")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Workers(error) => Some(error),
            Self::Plan(error) => Some(error),
            Self::Contradiction(_) | Self::Environment { .. } | Self::StackSize(_) => None,
        }
    }
}
