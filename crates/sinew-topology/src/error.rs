//! The errors of reading a machine's description.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use crate::cpu_set::CpuSet;

/// The reason why a machine's description could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum TopologyError {
    /// A file exists and cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The contents of a file are invalid.
    Nonsense {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No CPU is online, according to this directory.
    NoCpus {
        /// The directory.
        path: PathBuf,
    },
    /// Two nodes list the same CPUs.
    Shared {
        /// The nodes.
        nodes: (u32, u32),
        /// The CPUs.
        cpus: CpuSet,
    },
    /// No online CPU is in the affinity mask.
    NoneAccessible {
        /// The online CPUs.
        online: CpuSet,
        /// The affinity mask.
        mask: CpuSet,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            Self::Nonsense { path, reason } => write!(f, "{} is invalid: {reason}", path.display()),
            Self::NoCpus { path } => {
                write!(f, "{} lists no online CPU: use another root", path.display())
            }
            Self::Shared { nodes: (one, other), cpus } => {
                write!(f, "nodes {one} and {other} both list CPUs {cpus}: use another root, or turn NUMA off")
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
