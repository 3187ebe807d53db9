//! From a machine and a user's wishes to groups and their CPUs, and why. Knows all of the room, and starts nothing.

use std::error::Error;
use std::fmt;
use std::path::Path;

use crate::access::Access;
use crate::affinity;
use crate::error::TopologyError;
use crate::layout::{Demand, Layout, LayoutError};
use crate::machine::Topology;
use crate::pinning::{PinError, Pinning};
use crate::profile::Profile;
use crate::selection::{SelectError, Selection};

/// What a user wants of a machine. The default wants nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// What kind of work it is.
    pub profile: Profile,
    /// How many workers there should be at least: as many as have a CPU, unless given.
    pub concurrency: Option<usize>,
    /// How many workers a group has: as the profile says, unless given.
    pub group_size: Option<usize>,
    /// Whether groups belong to nodes: as the profile says, unless given.
    pub numa: Option<bool>,
    /// Which CPUs to use: all that are accessible, unless given.
    pub cpus: Selection,
    /// Whether each worker gets a CPU of its own.
    pub one_per_cpu: bool,
}

/// Groups for a machine and their CPUs. Printed, it tells what was found, and what was chosen and why.
///
/// # Examples
///
/// ```
/// # use sinew_topology::{Access, Cgroups, Plan, Wishes};
/// # use sinew_topology::{CpuSet, Topology};
/// let machine = Topology::flat(CpuSet::from_range(0..=7));
/// let access = Access::new(&machine, CpuSet::from_range(0..=5), Cgroups::default())?;
/// let wishes = Wishes { one_per_cpu: true, ..Wishes::default() };
/// let plan = Plan::new(machine, access, &wishes)?;
/// assert_eq!(plan.layout().workers(), 6);
/// assert!(plan.to_string().contains("1 group of 6 workers"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    machine: Topology,
    access: Access,
    wishes: Wishes,
    demand: Demand,
    layout: Layout,
    pinning: Pinning,
}

impl Plan {
    /// For the machine that this process runs on; `sys` and `proc` are below a root, which is `/`. Without `sys`, the CPUs of the
    /// affinity mask are all that is known of it.
    ///
    /// # Errors
    ///
    /// If the machine cannot be understood, or the wishes cannot be fulfilled.
    pub fn for_this_process(root: impl AsRef<Path>, wishes: &Wishes) -> Result<Self, PlanError> {
        let root = root.as_ref();
        let machine = this_machine(root)?;
        let access = Access::of_this_process(&machine, root)?;
        Self::new(machine, access, wishes)
    }

    /// For a machine, what may be used of it, and what is wanted.
    ///
    /// If each worker is to have a CPU of its own and the concurrency is not given, it is the greatest with which that can
    /// be: NUMA that is not asked for gives way first.
    ///
    /// # Errors
    ///
    /// If the wishes cannot be fulfilled.
    pub fn new(machine: Topology, access: Access, wishes: &Wishes) -> Result<Self, PlanError> {
        let access = access.select(&wishes.cpus)?;
        let demand = Demand {
            profile: wishes.profile,
            concurrency: wishes.concurrency.unwrap_or_else(|| access.concurrency()),
            nodes: machine.nodes_of(access.cpus()).count(),
            cpus: access.cpus().len(),
            group_size: wishes.group_size,
            numa: wishes.numa,
        };
        let (demand, layout, pinning) = match wishes.one_per_cpu {
            true => one_per_cpu(&machine, &access, demand, wishes.concurrency.is_some())?,
            false => {
                let layout = demand.layout()?;
                let pinning = Pinning::shared(&machine, access.cpus(), &layout)?;
                (demand, layout, pinning)
            }
        };
        Ok(Self { machine, access, wishes: wishes.clone(), demand, layout, pinning })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Topology {
        &self.machine
    }

    /// What may be used of it, after the user's choice.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// What the groups were laid out for.
    #[must_use]
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// What the user wanted.
    #[must_use]
    pub fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// The groups.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether workers are to run on CPUs of their own choice: the user named some, or groups belong to nodes. Otherwise they run where
    /// the kernel puts them, which is close to whoever wakes them.
    #[must_use]
    pub fn chooses_cpus(&self) -> bool {
        let Wishes { one_per_cpu, cpus, .. } = &self.wishes;
        *one_per_cpu || *cpus != Selection::default() || self.layout.is_numa()
    }

    /// The CPUs of their workers.
    #[must_use]
    pub fn pinning(&self) -> &Pinning {
        &self.pinning
    }
}

/// The machine that `sys` describes. A process may be where no `sys` is, and has to start there as well.
fn this_machine(root: &Path) -> Result<Topology, TopologyError> {
    let sys = root.join("sys");
    match (Topology::read(&sys), affinity::current(root)) {
        (Err(TopologyError::NoCpus { .. }), Ok(mask)) => {
            let mut machine = Topology::flat(mask);
            let note = format!("{} tells of no CPU: took those of the affinity mask", sys.display());
            machine.notes.push(note);
            Ok(machine)
        }
        (read, _) => read,
    }
}

/// The first that can be of: the demand, the same without NUMA unless that was asked for, and both with ever less concurrency
/// unless that is fixed. If none can be, the error is that of the demand.
fn one_per_cpu(
    machine: &Topology,
    access: &Access,
    demand: Demand,
    is_fixed: bool,
) -> Result<(Demand, Layout, Pinning), PlanError> {
    let attempt = |demand: Demand| {
        let layout = demand.layout()?;
        let pinning = Pinning::one_per_cpu(machine, access.cpus(), &layout)?;
        Ok::<_, PlanError>((demand, layout, pinning))
    };
    let error = match attempt(demand) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let lowest = if is_fixed { demand.concurrency } else { 1 };
    let numa = if demand.numa.is_none() { &[None, Some(false)] } else { &[demand.numa] as &[_] };
    let mut weaker = (lowest..=demand.concurrency)
        .rev()
        .flat_map(|concurrency| numa.iter().map(move |numa| Demand { concurrency, numa: *numa, ..demand }));
    weaker.find_map(|demand| attempt(demand).ok()).ok_or(error)
}

/// Why there are no groups for a machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The machine is not understood.
    Topology(TopologyError),
    /// The CPUs cannot be chosen like that.
    Select(SelectError),
    /// Groups like that cannot be.
    Layout(LayoutError),
    /// The CPUs are not enough.
    Pin(PinError),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topology(error) => error.fmt(f),
            Self::Select(error) => error.fmt(f),
            Self::Layout(error) => error.fmt(f),
            Self::Pin(error) => error.fmt(f),
        }
    }
}

impl Error for PlanError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The text is that of the inner error: it goes on with what is below that one.
        match self {
            Self::Topology(error) => error.source(),
            Self::Select(_) | Self::Layout(_) | Self::Pin(_) => None,
        }
    }
}

impl From<TopologyError> for PlanError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}

impl From<SelectError> for PlanError {
    fn from(error: SelectError) -> Self {
        Self::Select(error)
    }
}

impl From<LayoutError> for PlanError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<PinError> for PlanError {
    fn from(error: PinError) -> Self {
        Self::Pin(error)
    }
}
