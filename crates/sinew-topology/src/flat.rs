//! Stands in for what reads the system: one node with the CPUs that the calling thread may run on,
//! and no limits by control groups.

use std::path::{Path, PathBuf};

use crate::affinity;
use crate::cgroup::Cgroups;
use crate::error::TopologyError;
use crate::machine::Topology;

impl Topology {
    /// The CPUs that the calling thread may run on, whatever files describe.
    ///
    /// # Errors
    ///
    /// If the kernel does not say which they are.
    pub fn read(_root: impl AsRef<Path>) -> Result<Self, TopologyError> {
        match affinity::current(Path::new("/")) {
            Ok(mask) => Ok(Self::flat(mask)),
            Err(error) => Err(TopologyError::Unreadable { path: PathBuf::from("the affinity mask"), error }),
        }
    }
}

impl Cgroups {
    /// No limits.
    #[must_use]
    pub fn read(_root: impl AsRef<Path>) -> Self {
        Self::default()
    }
}
