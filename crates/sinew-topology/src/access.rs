//! The part of a machine that this process may use: affinity mask, control groups, the user's
//! choice. Knows no groups of workers.

use std::io;
use std::path::Path;

use crate::affinity;
use crate::cgroup::{Cgroups, Quota};
use crate::cpu_set::CpuSet;
use crate::error::TopologyError;
use crate::machine::Topology;
use crate::selection::{SelectError, Selection};

/// The CPUs that a process may use, how much of their time, and notes on what was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    mask: CpuSet,
    groups: Cgroups,
    /// # Invariant
    ///
    /// Not empty.
    cpus: CpuSet,
    notes: Vec<String>,
}

impl Access {
    /// Computes what the affinity mask and the control groups leave of a machine. If they
    /// contradict each other, the mask counts, because the kernel enforces it.
    ///
    /// # Errors
    ///
    /// Returns an error if no CPU in the mask is online.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sinew_topology::{Access, Cgroups};
    /// # use sinew_topology::{CpuSet, Topology};
    /// let machine = Topology::flat(CpuSet::from_range(0..=7));
    /// let access = Access::new(&machine, "2-3,9".parse()?, Cgroups::default())?;
    /// assert_eq!(access.cpus().to_string(), "2-3");
    /// assert_eq!(access.concurrency(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(machine: &Topology, mask: CpuSet, groups: Cgroups) -> Result<Self, TopologyError> {
        let masked = machine.online() & &mask;
        if masked.is_empty() {
            return Err(TopologyError::NoneAccessible { online: machine.online().clone(), mask });
        }
        let cpus = groups.cpus().map_or_else(|| masked.clone(), |cpus| &masked & cpus);
        let mut notes = groups.notes().to_vec();
        if !cpus.is_empty() {
            return Ok(Self { mask, groups, cpus, notes });
        }
        notes.push(format!("no CPU is both in the mask and permitted by control groups: using {masked}"));
        Ok(Self { mask, groups, cpus: masked, notes })
    }

    /// Computes the part of this machine that the calling process may use.
    ///
    /// The files of `proc` and of the control groups are read below `root`, which is normally `/`.
    /// The mask is that of the calling thread, which the threads that it starts inherit.
    ///
    /// # Errors
    ///
    /// Returns an error if no CPU in the mask is online.
    pub fn of_this_process(machine: &Topology, root: impl AsRef<Path>) -> Result<Self, TopologyError> {
        let root = root.as_ref();
        Self::with_mask(machine, affinity::current(root), Cgroups::read(root))
    }

    /// Does the same with a mask that could not be read in case of an error: then any online CPU
    /// may be used.
    fn with_mask(
        machine: &Topology,
        mask: io::Result<CpuSet>,
        groups: Cgroups,
    ) -> Result<Self, TopologyError> {
        match mask {
            Ok(mask) => Self::new(machine, mask, groups),
            Err(error) => {
                let mut access = Self::new(machine, machine.online().clone(), groups)?;
                access.notes.push(format!("the affinity mask is unknown ({error}): using all CPUs online"));
                Ok(access)
            }
        }
    }

    /// Restricts the CPUs to the user's choice.
    ///
    /// # Errors
    ///
    /// Returns an error if the choice names CPUs that are not accessible, or leaves none.
    pub fn select(self, selection: &Selection) -> Result<Self, SelectError> {
        let cpus = selection.apply(&self.cpus)?;
        Ok(Self { cpus, ..self })
    }

    /// Returns the accessible CPUs.
    #[must_use]
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// Returns the affinity mask.
    #[must_use]
    pub fn mask(&self) -> &CpuSet {
        &self.mask
    }

    /// Returns the limits of the control groups.
    #[must_use]
    pub fn groups(&self) -> &Cgroups {
        &self.groups
    }

    /// Returns the quota of CPU time, if there is one.
    #[must_use]
    pub fn quota(&self) -> Option<Quota> {
        self.groups.quota()
    }

    /// Returns how many workers can run at the same time: one per CPU, and no more than the quota
    /// permits.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.quota().map_or(usize::MAX, Quota::cpus).min(self.cpus.len())
    }

    /// Returns notes on what was found and ignored, with the reason.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_mask_is_every_cpu_and_is_noted() {
        let machine = Topology::flat(CpuSet::from_range(0..=3));
        let error = io::ErrorKind::PermissionDenied.into();
        let access = Access::with_mask(&machine, Err(error), Cgroups::default()).unwrap();
        assert_eq!(access.concurrency(), 4);
        assert!(access.notes()[0].contains("permission denied"), "{:?}", access.notes());
    }
}
