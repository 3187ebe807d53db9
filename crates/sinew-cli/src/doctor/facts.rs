//! What the doctor asks the machine. Judges nothing.

use std::fs;
use std::io;
use std::path::Path;

use rustix::thread::{MembarrierCommand, membarrier};
use sinew::Runtime;
use sinew::coroutine::GuardKind;
use sinew::topology::{Plan, Quota, Wishes};

use crate::machine::limits;
use crate::machine::memory::Memory;
use crate::machine::number_in;
use crate::machine::system_calls::{Answer, epoll_pwait2, io_uring};

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The release of the kernel, as it says it: `6.18.5-generic`.
    pub(super) release: String,
    pub(super) guards: GuardKind,
    pub(super) epoll_pwait2: Answer,
    pub(super) has_membarrier: bool,
    pub(super) io_uring: Answer,
    /// The machine's CPUs; what went wrong, if they are not known.
    pub(super) cpus: Result<Cpus, String>,
    pub(super) memory: Memory,
    /// Descriptors: the limit, and how far the process may raise it.
    pub(super) descriptors: (u64, u64),
    pub(super) mappings: u64,
    pub(super) address_space: Option<u64>,
    /// `vm.overcommit_memory`.
    pub(super) overcommit: Option<u64>,
    /// The kernel's setting of transparent huge pages.
    pub(super) huge_pages: Option<String>,
    /// What a runtime without settings says of itself, or why it does not start.
    pub(super) runtime: Result<String, String>,
}

/// The CPUs of the machine, and which of them this process may use.
#[derive(Clone, Debug)]
pub(super) struct Cpus {
    pub(super) online: usize,
    pub(super) accessible: usize,
    pub(super) nodes: usize,
    pub(super) quota: Option<Quota>,
    /// What was odd about the files that this is read from.
    pub(super) notes: Vec<String>,
}

impl Facts {
    /// Asks the kernel, and starts a runtime for a moment.
    pub(super) fn gather() -> Self {
        Self {
            release: rustix::system::uname().release().to_string_lossy().into_owned(),
            guards: GuardKind::best(),
            epoll_pwait2: epoll_pwait2(),
            // What the runtime itself asks.
            has_membarrier: membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok(),
            io_uring: io_uring(),
            cpus: Cpus::read().map_err(|error| error.to_string()),
            memory: Memory::read(Path::new("/")),
            descriptors: limits::descriptors(),
            mappings: limits::mappings(),
            address_space: limits::address_space(),
            overcommit: number_in("/proc/sys/vm/overcommit_memory"),
            huge_pages: huge_pages().ok(),
            runtime: Runtime::builder()
                .start()
                .map(|runtime| runtime.describe())
                .map_err(|error| error.to_string()),
        }
    }
}

impl Cpus {
    fn read() -> Result<Self, sinew::topology::PlanError> {
        let plan = Plan::for_this_process("/", &Wishes::default())?;
        let (machine, access) = (plan.machine(), plan.access());
        Ok(Self {
            online: machine.online().len(),
            accessible: access.cpus().len(),
            nodes: machine.nodes_of(access.cpus()).count(),
            quota: access.quota(),
            notes: [machine.notes(), access.notes()].concat(),
        })
    }
}

/// The word in brackets of a line such as `always [madvise] never`.
fn huge_pages() -> io::Result<String> {
    let line = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let chosen = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map(|(chosen, _)| chosen.to_owned()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
