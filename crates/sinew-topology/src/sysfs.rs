//! Reads a machine from a directory like `/sys`. [`Topology`] documents the defaults for missing
//! files. Knows nothing about processes.

use std::path::{Path, PathBuf};

use crate::cpu_set::CpuSet;
use crate::error::TopologyError;
use crate::file;
use crate::list::shorten;
use crate::machine::{MOST_CPUS, Node, Topology};

/// Far above the 1,024 nodes that kernels are built for: numbers from here on are invalid.
const MOST_NODES: u32 = 1 << 12;

impl Topology {
    /// Reads the machine that a directory like `/sys` describes.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory lists no CPU, or if files about CPUs and nodes cannot be
    /// read or are invalid.
    pub fn read(root: impl AsRef<Path>) -> Result<Self, TopologyError> {
        let mut reader = Reader { system: root.as_ref().join("devices/system"), notes: Vec::new() };
        let online = reader.online()?;
        let offline = reader.offline(&online);
        let nodes = reader.nodes(&online)?;
        let cores = reader.cores(&online);
        Ok(Self { online, offline, nodes, cores, notes: reader.notes })
    }
}

struct Reader {
    system: PathBuf,
    notes: Vec<String>,
}

impl Reader {
    fn online(&mut self) -> Result<CpuSet, TopologyError> {
        let path = self.system.join("cpu");
        let online = match self.set("cpu/online", MOST_CPUS)? {
            Some(online) => online,
            None => self.online_by_directories(&path)?,
        };
        if online.is_empty() {
            return Err(TopologyError::NoCpus { path });
        }
        Ok(online)
    }

    fn online_by_directories(&mut self, path: &Path) -> Result<CpuSet, TopologyError> {
        let directories = file::numbered(path, "cpu").map_err(|error| unreadable(path, error))?;
        let mut online = Vec::new();
        for (cpu, directory) in directories.unwrap_or_default() {
            if cpu >= MOST_CPUS {
                return Err(nonsense(&directory, format!("no machine has a CPU {cpu}")));
            }
            let path = directory.join("online");
            let state = file::read(&path).map_err(|error| unreadable(&path, error))?;
            match state.as_deref().map(str::trim) {
                Some("0") => {}
                // CPUs that cannot be switched off have no such file.
                None | Some("1") => online.push(cpu),
                Some(other) => {
                    return Err(nonsense(&path, format!("{:?} is neither 0 nor 1", shorten(other))));
                }
            }
        }
        self.notes.push("no list of the online CPUs: using those that have a directory".to_owned());
        Ok(online.into_iter().collect())
    }

    fn offline(&mut self, online: &CpuSet) -> CpuSet {
        let present = self.set("cpu/present", MOST_CPUS);
        let present = self.forgive(present, "offline CPUs are unknown").flatten();
        &present.unwrap_or_default() - online
    }

    fn nodes(&mut self, online: &CpuSet) -> Result<Vec<Node>, TopologyError> {
        let path = self.system.join("node");
        let directories = file::numbered(&path, "node").map_err(|error| unreadable(&path, error))?;
        let Some(directories) = directories.filter(|directories| !directories.is_empty()) else {
            self.notes.push("no nodes: using one node for all CPUs".to_owned());
            return Ok(Topology::flat(online.clone()).nodes);
        };
        if let Some((id, directory)) = directories.iter().find(|(id, _)| *id >= MOST_NODES) {
            return Err(nonsense(directory, format!("no machine has a node {id}")));
        }
        let with_memory = self.with_memory();
        let mut nodes = Vec::new();
        for (id, directory) in directories {
            let cpus = &self.cpus_of_node(id)? & online;
            let has_memory = match &with_memory {
                Some(with_memory) => with_memory.contains(id),
                None => self.has_memory(&directory),
            };
            nodes.push(Node { id, cpus, has_memory, distances: Vec::new() });
        }
        refuse_shared(&nodes)?;
        self.adopt_unclaimed(&mut nodes, online);
        self.measure(&mut nodes);
        Ok(nodes)
    }

    fn cpus_of_node(&mut self, id: u32) -> Result<CpuSet, TopologyError> {
        if let Some(cpus) = self.set(&format!("node/node{id}/cpulist"), MOST_CPUS)? {
            return Ok(cpus);
        }
        let having = self.set("node/has_cpu", MOST_NODES);
        let having = self.forgive(having, "which nodes have CPUs is unknown").flatten();
        if having.is_none_or(|having| having.contains(id)) {
            self.notes.push(format!("node {id} does not list its CPUs: treating it as a node without CPUs"));
        }
        Ok(CpuSet::new())
    }

    /// Returns the nodes with memory, if the kernel lists them.
    fn with_memory(&mut self) -> Option<CpuSet> {
        let list = self.set("node/has_memory", MOST_NODES);
        self.forgive(list, "reading it from each node").flatten()
    }

    fn has_memory(&mut self, directory: &Path) -> bool {
        let path = directory.join("meminfo");
        let text = file::read(&path).map_err(|error| unreadable(&path, error));
        let assumed = "treating it as a node with memory";
        let Some(Some(text)) = self.forgive(text, assumed) else { return true };
        let total = memory_total(&text)
            .ok_or_else(|| nonsense(&path, "it does not contain the amount of memory".to_owned()));
        self.forgive(total, assumed) != Some(0)
    }

    /// Adds the CPUs that no node lists to the first node with CPUs. If no node has a CPU, makes
    /// one node of all CPUs.
    fn adopt_unclaimed(&mut self, nodes: &mut Vec<Node>, online: &CpuSet) {
        let claimed = nodes.iter().fold(CpuSet::new(), |claimed, node| &claimed | &node.cpus);
        if claimed.is_empty() {
            self.notes.push("no node has a CPU: using one node for all CPUs".to_owned());
            *nodes = Topology::flat(online.clone()).nodes;
            return;
        }
        let unclaimed = online - &claimed;
        if let Some(node) = nodes.iter_mut().find(|node| !node.cpus.is_empty() && !unclaimed.is_empty()) {
            self.notes.push(format!("CPUs {unclaimed} are on no node: adding them to node {}", node.id));
            node.cpus = &node.cpus | &unclaimed;
        }
    }

    fn measure(&mut self, nodes: &mut [Node]) {
        let mut all = Vec::new();
        for node in nodes.iter() {
            let path = self.system.join(format!("node/node{}/distance", node.id));
            let text = file::read(&path).map_err(|error| unreadable(&path, error));
            let parsed = text.and_then(|text| match text {
                Some(text) => {
                    distances(&text, nodes.len()).map_err(|reason| nonsense(&path, reason)).map(Some)
                }
                None => Ok(None),
            });
            // If one row is missing, the others are useless: they do not tell which nodes are
            // closer.
            match self.forgive(parsed, "treating distances as unknown") {
                Some(Some(distances)) => all.push(distances),
                _ => return,
            }
        }
        for (node, distances) in nodes.iter_mut().zip(all) {
            node.distances = distances;
        }
    }

    fn cores(&mut self, online: &CpuSet) -> Vec<CpuSet> {
        let mut claimed = CpuSet::new();
        let mut cores = Vec::new();
        let mut troubles = Vec::new();
        for cpu in online.iter() {
            if claimed.contains(cpu) {
                continue;
            }
            let alone = CpuSet::from_range(cpu..=cpu);
            let siblings = self.siblings(cpu).unwrap_or_else(|error| {
                troubles.push((cpu, error));
                alone.clone()
            });
            // Lower CPUs have their cores already. Most of those cores were not added to `claimed`,
            // which saves time, so lower CPUs are cut off here.
            let siblings = &siblings & &CpuSet::from_range(cpu..=u32::MAX);
            if siblings == alone {
                cores.push(alone);
                continue;
            }
            let core = &(&(&siblings & online) - &claimed) | &alone;
            claimed = &claimed | &core;
            cores.push(core);
        }
        // A machine may have thousands of such files, so there is one note for all.
        if let Some((_, first)) = troubles.first() {
            let cpus: CpuSet = troubles.iter().map(|(cpu, _)| *cpu).collect();
            self.notes.push(format!("{first}: treating each of CPUs {cpus} as a core"));
        }
        cores
    }

    fn siblings(&self, cpu: u32) -> Result<CpuSet, TopologyError> {
        // The second is the name in older kernels.
        for name in ["core_cpus_list", "thread_siblings_list"] {
            let path = format!("cpu/cpu{cpu}/topology/{name}");
            match self.set(&path, MOST_CPUS)? {
                Some(siblings) if siblings.contains(cpu) => return Ok(siblings),
                Some(siblings) => {
                    let reason = format!("CPU {cpu} is not among its own siblings, {siblings}");
                    return Err(nonsense(&self.system.join(path), reason));
                }
                None => {}
            }
        }
        Ok(CpuSet::from_range(cpu..=cpu))
    }

    /// Returns the list in a file, with numbers below a limit; `None` if the file does not exist.
    fn set(&self, path: &str, limit: u32) -> Result<Option<CpuSet>, TopologyError> {
        let path = self.system.join(path);
        let Some(text) = file::read(&path).map_err(|error| unreadable(&path, error))? else {
            return Ok(None);
        };
        let set: CpuSet = text.parse().map_err(|error| nonsense(&path, format!("{error}")))?;
        match set.last() {
            Some(last) if last >= limit => Err(nonsense(&path, format!("no machine has number {last}"))),
            _ => Ok(Some(set)),
        }
    }

    /// Returns the value, or adds a note with the error and what is assumed instead.
    fn forgive<T>(&mut self, found: Result<T, TopologyError>, assumed: &str) -> Option<T> {
        found.map_err(|error| self.notes.push(format!("{error}: {assumed}"))).ok()
    }
}

fn refuse_shared(nodes: &[Node]) -> Result<(), TopologyError> {
    let mut seen: Vec<&Node> = Vec::new();
    for node in nodes.iter().filter(|node| !node.cpus.is_empty()) {
        for other in &seen {
            let cpus = &other.cpus & &node.cpus;
            if !cpus.is_empty() {
                return Err(TopologyError::Shared { nodes: (other.id, node.id), cpus });
            }
        }
        seen.push(node);
    }
    Ok(())
}

/// Returns the number in a line such as `Node 0 MemTotal:  16384 kB`.
fn memory_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.split_once("MemTotal:"))?;
    line.1.split_whitespace().next()?.parse().ok()
}

fn distances(text: &str, nodes: usize) -> Result<Vec<u32>, String> {
    let distances: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    match distances {
        Ok(distances) if distances.len() == nodes => Ok(distances),
        Ok(distances) => Err(format!("it has {} distances for {nodes} nodes", distances.len())),
        Err(_) => Err(format!("{:?} is not a list of distances", shorten(text.trim()))),
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> TopologyError {
    TopologyError::Unreadable { path: path.to_owned(), error }
}

fn nonsense(path: &Path, reason: String) -> TopologyError {
    TopologyError::Nonsense { path: path.to_owned(), reason }
}
