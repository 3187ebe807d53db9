//! Machines, what of them a process may use, and how workers are grouped for them. Knows no worker and no pool: it reads files,
//! computes, and says why.
//!
//! A [`Topology`] is what there is; an [`Access`] is what affinity mask, control groups and the user leave of it; a [`Demand`]
//! becomes a [`Layout`] of groups by the arithmetic of its [`Profile`]; a [`Pinning`] says where their workers may run. A
//! [`Plan`] does all of that and can be printed.
//!
//! Everything is read below a root that can be given, so that any machine can be described by files.

mod access;
mod affinity;
mod cgroup;
mod cpu_set;
mod describe;
mod error;
mod file;
mod layout;
mod list;
mod machine;
mod pinning;
mod plan;
mod profile;
mod selection;
mod spelling;
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
