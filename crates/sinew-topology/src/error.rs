//! What can go wrong while a machine is looked at.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use crate::cpu_set::CpuSet;

/// Why a machine could not be understood.
#[derive(Debug)]
#[non_exhaustive]
pub enum TopologyError {
    /// A file is there and cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel says.
        error: io::Error,
    },
    /// What stands in a file makes no sense.
    Nonsense {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No CPU is online, as far as this directory tells.
    NoCpus {
        /// The directory.
        path: PathBuf,
    },
    /// Two nodes claim these CPUs.
    Shared {
        /// The nodes.
        nodes: (u32, u32),
        /// The CPUs.
        cpus: CpuSet,
    },
    /// No CPU that is online is in the affinity mask.
    NoneAccessible {
        /// What is online.
        online: CpuSet,
        /// The mask.
        mask: CpuSet,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            Self::Nonsense { path, reason } => write!(f, "{} makes no sense: {reason}", path.display()),
            Self::NoCpus { path } => {
                write!(f, "{} tells of no CPU that is online: give another root", path.display())
            }
            Self::Shared { nodes: (one, other), cpus } => {
                write!(f, "nodes {one} and {other} both claim CPUs {cpus}: give another root, or NUMA off")
            }
            Self::NoneAccessible { online, mask } => write!(
                f,
                "this process may run on CPUs {mask}, none of which is online ({online} are): widen its affinity mask"
            ),
        }
    }
}

impl Error for TopologyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            _ => None,
        }
    }
}
