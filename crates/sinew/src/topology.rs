//! The machine: which CPUs it has, which of them this process may use, and how workers are grouped
//! for them.
//!
//! A runtime makes its own plan from the settings of its [builder](crate::RuntimeBuilder), so
//! nothing here is needed to start one. These types let a program examine the machine first: a
//! [`Topology`] describes the machine, an [`Access`] what the affinity mask and control groups
//! leave of it, and a [`Plan`] which groups a runtime with the same [`Wishes`] will have, and why.
//! [`Runtime::describe`](crate::runtime::Handle::describe) describes the plan of a running runtime.
//!
//! This example starts a runtime on the CPUs of one NUMA node, with a worker for each:
//!
//! ```
//! use sinew::topology::{Plan, Wishes};
//!
//! let plan = Plan::for_this_process("/", &Wishes::default())?;
//! println!("{plan}");
//!
//! let usable = plan.access().cpus();
//! let node = plan.machine().nodes_of(usable).next().ok_or("no node has a CPU that may be used")?;
//! let near = node.cpus() & usable;
//! println!("node {} has CPUs {near}", node.id());
//!
//! let runtime = sinew::Runtime::builder()
//!     .cpus(near.to_string().parse()?)
//!     .worker_per_cpu(true)
//!     .start()?;
//! assert!(runtime.workers() <= near.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Roots
//!
//! All files are read below a directory that is an argument, so that tests can describe other
//! machines. [`Topology::read`] takes the path of `/sys`. [`Access::of_this_process`] and
//! [`Plan::for_this_process`] take the path of `/`, and read `sys` and `proc` below it.

pub use sinew_topology::{
    Access, Cgroups, CpuList, CpuSet, Demand, LARGEST_GROUP, Layout, LayoutError, ListError, ListFault,
    MOST_WORKERS, Node, ParseProfileError, PinError, Pinning, Plan, PlanError, Profile, Quota, SelectError,
    Selection, Topology, TopologyError, Wishes,
};
