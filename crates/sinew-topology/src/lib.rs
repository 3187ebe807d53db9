//! Finds the CPUs, cores and NUMA nodes of a machine, which of them a process may use, and how to
//! group workers on them.
//!
//! The scheduler of the sinew fiber runtime asks this crate how many workers to start, in which
//! groups, and on which CPUs. The crate starts no thread. It reads files, computes, and explains
//! its choice.
//!
//! ```
//! use sinew_topology::{Access, Cgroups, CpuSet, Plan, Profile, Topology, Wishes};
//!
//! // A machine with 8 CPUs, of which the affinity mask permits 6.
//! let machine = Topology::flat(CpuSet::from_range(0..=7));
//! let access = Access::new(&machine, "0-5".parse()?, Cgroups::default())?;
//!
//! let wishes = Wishes { profile: Profile::Io, ..Wishes::default() };
//! let plan = Plan::new(machine, access, &wishes)?;
//! assert_eq!((plan.layout().groups(), plan.layout().group_size()), (1, 6));
//! println!("{plan}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - Everything at once, for the machine that the process runs on: [`Plan::for_this_process`].
//! - The machine: [`Topology`]. The part of it that the process may use, after affinity mask,
//!   control groups and the user's choice: [`Access`].
//! - The number of groups and their size, computed from a [`Demand`] with a [`Profile`]:
//!   [`Layout`].
//! - The CPUs that the workers of each group may run on: [`Pinning`]. Apply such a set of CPUs to a
//!   thread: [`restrict_thread`].
//! - Sets of CPUs: [`CpuSet`], in the kernel's notation. CPUs as users write them, with numbers
//!   that count from the end: [`CpuList`].
//!
//! # Features
//!
//! There are no Cargo features.
//!
//! # Guarantees
//!
//! - Nothing is read before a function is called, and nothing is cached.
//! - All files are read below a root that the caller can choose, so any machine can be described by
//!   files.
//! - Missing files and wrong values of minor files do not fail: the crate assumes a default and
//!   adds a note that says so. See [`Topology`] and [`Cgroups`].
//!
//! # Limits
//!
//! Linux only. CPU numbers go up to 65,535 and node numbers up to 4,095. A group has at most [64
//! workers](LARGEST_GROUP), and all groups together have at most [65,536](MOST_WORKERS). A plan
//! does not follow later changes: a CPU that goes online or offline, or a new quota, needs a new
//! plan.

#![cfg_attr(
    not(feature = "system"),
    expect(dead_code, reason = "readers of files are there, and no reader of the system")
)]

mod access;
mod affinity;
mod cgroup;
mod cpu_set;
mod describe;
mod error;
mod file;
#[cfg(not(feature = "system"))]
mod flat;
mod layout;
mod list;
mod machine;
mod pinning;
mod plan;
mod profile;
mod selection;
mod spelling;
#[cfg(feature = "system")]
mod sysfs;

pub use access::Access;
pub use affinity::restrict_thread;
pub use cgroup::{Cgroups, Quota};
pub use cpu_set::CpuSet;
pub use error::TopologyError;
pub use layout::{Demand, LARGEST_GROUP, Layout, LayoutError, MOST_WORKERS};
pub use list::{ListError, ListFault};
pub use machine::{Node, Topology};
pub use pinning::{PinError, Pinning};
pub use plan::{Plan, PlanError, Wishes};
pub use profile::{ParseProfileError, Profile};
pub use selection::{CpuList, SelectError, Selection};
#[doc(hidden)]
pub use spelling::{nearest, nearest_name};
