//! From a machine and a user's wishes to groups and their CPUs, with the reasons. Knows all other
//! modules of this crate, and starts nothing.

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

/// A user's settings for the groups of a machine. The default leaves every choice to this crate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The kind of work.
    pub profile: Profile,
    /// The least number of workers: one for each CPU that can be used at the same time, unless
    /// given.
    pub concurrency: Option<usize>,
    /// The number of workers per group: chosen by the profile, unless given.
    pub group_size: Option<usize>,
    /// Whether groups belong to nodes: chosen by the profile, unless given.
    pub numa: Option<bool>,
    /// The CPUs to use: all accessible ones, unless given.
    pub cpus: Selection,
    /// Whether each worker gets a CPU of its own.
    pub one_per_cpu: bool,
}

/// The groups for a machine and their CPUs. Printing it shows what was found, what was chosen, and
/// why.
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
    /// Plans for the machine that this process runs on. `sys` and `proc` are read below `root`,
    /// which is normally `/`. Without `sys`, the machine consists of the CPUs of the affinity mask.
    ///
    /// # Errors
    ///
    /// Returns an error if the machine's description cannot be used, or if the wishes cannot be
    /// fulfilled.
    ///
    /// ```
    /// # use sinew_topology::{Plan, Wishes};
    ///
    /// let plan = Plan::for_this_process("/", &Wishes::default())?;
    /// println!("{plan}");
    /// assert!(plan.layout().workers() >= 1);
    /// # Ok::<(), sinew_topology::PlanError>(())
    /// ```
    pub fn for_this_process(root: impl AsRef<Path>, wishes: &Wishes) -> Result<Self, PlanError> {
        let root = root.as_ref();
        let machine = this_machine(root)?;
        let access = Access::of_this_process(&machine, root)?;
        Self::new(machine, access, wishes)
    }

    /// Plans for a machine, the part of it that may be used, and a user's wishes.
    ///
    /// If each worker is to have a CPU of its own and the concurrency is not given, the plan takes
    /// the greatest concurrency for which that is possible. To reach it, the plan first turns off
    /// NUMA, unless NUMA was requested.
    ///
    /// # Errors
    ///
    /// Returns an error if the wishes cannot be fulfilled.
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

    /// Returns the machine.
    #[must_use]
    pub fn machine(&self) -> &Topology {
        &self.machine
    }

    /// Returns the part of the machine that may be used, after the user's choice.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the demand for which the groups were laid out.
    #[must_use]
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// Returns the user's wishes.
    #[must_use]
    pub fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// Returns the groups.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns whether workers are bound to CPUs: the user named some CPUs, each worker has its
    /// own, or groups belong to nodes. Otherwise they run where the kernel puts them, which is
    /// close to the thread that wakes them.
    #[must_use]
    pub fn chooses_cpus(&self) -> bool {
        let Wishes { one_per_cpu, cpus, .. } = &self.wishes;
        *one_per_cpu || *cpus != Selection::default() || self.layout.is_numa()
    }

    /// Returns the CPUs of the workers.
    #[must_use]
    pub fn pinning(&self) -> &Pinning {
        &self.pinning
    }
}

/// Reads the machine from `sys`. A process may run without `sys`, and must start there too.
fn this_machine(root: &Path) -> Result<Topology, TopologyError> {
    let sys = root.join("sys");
    match (Topology::read(&sys), affinity::current(root)) {
        (Err(TopologyError::NoCpus { .. }), Ok(mask)) => {
            let mut machine = Topology::flat(mask);
            let note = format!("{} lists no CPU: using those of the affinity mask", sys.display());
            machine.notes.push(note);
            Ok(machine)
        }
        (read, _) => read,
    }
}

/// Tries the demand, then the same without NUMA unless that was requested, and then both with ever
/// less concurrency unless that is fixed. Returns the first that is possible. If none is, returns
/// the error of the demand itself.
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

/// The reason why there is no plan for a machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The machine's description cannot be used.
    Topology(TopologyError),
    /// The user's choice of CPUs is impossible.
    Select(SelectError),
    /// The groups are impossible.
    Layout(LayoutError),
    /// There are too few CPUs.
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
        // The text is that of the inner error, so the source is that error's source.
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
