//! The error of a runtime that did not start.

use std::error::Error;
use std::fmt;

use sinew_coroutine::{LARGEST_CLASS, SMALLEST_CLASS};
use sinew_sched::BuildError;
use sinew_topology::PlanError;

/// The error of a runtime that did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The workers did not start.
    Workers(BuildError),
    /// Groups could not be planned for this machine.
    Plan(PlanError),
    /// Groups could not be planned for this machine as the environment demands.
    #[non_exhaustive]
    PlanFromEnvironment {
        /// The reason.
        error: PlanError,
        /// The variables that plan groups.
        variables: Vec<&'static str>,
    },
    /// Two settings exclude one another.
    #[non_exhaustive]
    Contradiction {
        /// The setting that gives the groups.
        given: &'static str,
        /// The other setting.
        setting: &'static str,
    },
    /// A setting is out of range.
    #[non_exhaustive]
    OutOfRange {
        /// The name.
        setting: &'static str,
        /// The value.
        value: usize,
        /// A description of valid values.
        wanted: &'static str,
    },
    /// A variable in the environment is invalid.
    #[non_exhaustive]
    Environment {
        /// The name.
        name: &'static str,
        /// The value.
        value: String,
        /// What is wrong with it, or a description of valid values.
        wanted: String,
    },
    /// The size of stacks is out of range: 16 KiB to 64 MiB.
    StackSize(usize),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(error) => write!(f, "{error}"),
            Self::Plan(error) => write!(f, "{error}"),
            Self::PlanFromEnvironment { error, variables } => {
                write!(f, "{error} (by {} in the environment)", variables.join(", "))
            }
            Self::Contradiction { given, setting } => {
                write!(f, "`{given}` and `{setting}` are both set, and exclude one another: leave one out")?;
                if given.to_ascii_lowercase().contains("workers") && *setting != "groups" {
                    let concurrency =
                        if given.starts_with("SINEW_") { "SINEW_CONCURRENCY" } else { "concurrency" };
                    write!(f, ", or say `{concurrency}` in place of `{given}`")?;
                }
                Ok(())
            }
            Self::OutOfRange { setting, value, wanted } => {
                write!(f, "`{setting}` is {value}: it has to be {wanted}")
            }
            Self::Environment { name, value, wanted } => {
                write!(f, "{name} is {value:?} in the environment: {wanted}")
            }
            Self::StackSize(size) => {
                write!(
                    f,
                    "stacks of {size} bytes were asked for: they have {SMALLEST_CLASS} bytes at least, and {LARGEST_CLASS} at most"
                )
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The messages of these errors are already part of this one.
            Self::Workers(error) => error.source(),
            Self::Plan(error) | Self::PlanFromEnvironment { error, .. } => error.source(),
            Self::Contradiction { .. }
            | Self::OutOfRange { .. }
            | Self::Environment { .. }
            | Self::StackSize(_) => None,
        }
    }
}
