//! Machines, what of them a process may use, and how workers are grouped for them. Knows no worker and no pool: it reads files,
//! computes, and says why.
//!
//! Everything is read below a root that can be given, so that any machine can be described by files.

mod access;
mod affinity;
mod cgroup;
mod cpu_set;
mod error;
mod file;
mod layout;
mod list;
mod machine;
mod pinning;
mod profile;
mod selection;
mod sysfs;

pub use access::Access;
pub use cgroup::{Cgroups, Quota};
pub use cpu_set::CpuSet;
pub use error::TopologyError;
pub use layout::{Demand, LARGEST_GROUP, Layout, LayoutError, MOST_WORKERS};
pub use list::{ListError, ListFault};
pub use machine::{Node, Topology};
pub use pinning::{PinError, Pinning};
pub use profile::{ParseProfileError, Profile};
pub use selection::{CpuList, SelectError, Selection};
