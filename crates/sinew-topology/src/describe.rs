//! The text of a plan: what was found, what was chosen, and why. Makes no decisions.

use std::fmt;

use crate::plan::Plan;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe_machine(f)?;
        self.describe_access(f)?;
        self.describe_concurrency(f)?;
        self.describe_groups(f)?;
        for note in self.machine().notes().iter().chain(self.access().notes()) {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

impl Plan {
    fn describe_machine(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.machine();
        let (cpus, cores) = (machine.online().len(), machine.cores().len());
        write!(
            f,
            "machine: {} online ({}) on {}",
            count(cpus, "CPU"),
            machine.online(),
            count(cores, "core")
        )?;
        if !machine.offline().is_empty() {
            write!(f, ", {} offline", machine.offline())?;
        }
        writeln!(f)?;
        for node in machine.nodes() {
            match node.cpus().is_empty() {
                true => write!(f, "  node {}: no CPUs", node.id())?,
                false => write!(f, "  node {}: CPUs {}", node.id(), node.cpus())?,
            }
            writeln!(f, "{}", if node.has_memory() { "" } else { ", no memory" })?;
        }
        Ok(())
    }

    fn describe_access(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = self.access();
        let nodes = count(self.demand().nodes, "node");
        write!(f, "accessible: {} ({}) on {nodes}", count(access.cpus().len(), "CPU"), access.cpus())?;
        if !self.machine().online().is_subset(access.mask()) {
            write!(f, "; the affinity mask is {}", access.mask())?;
        }
        if let Some(cpus) = access.groups().cpus().filter(|cpus| !self.machine().online().is_subset(cpus)) {
            write!(f, "; control groups permit {cpus}")?;
        }
        if let Some(allowed) = &self.wishes().cpus.allowed {
            write!(f, "; {allowed} allowed")?;
        }
        if let Some(excluded) = &self.wishes().cpus.excluded {
            write!(f, "; {excluded} excluded")?;
        }
        writeln!(f)
    }

    fn describe_concurrency(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (access, concurrency) = (self.access(), self.demand().concurrency);
        write!(f, "concurrency: {concurrency}, ")?;
        match access.quota() {
            _ if self.wishes().concurrency.is_some() => writeln!(f, "as asked for"),
            _ if concurrency < access.concurrency() => writeln!(f, "so that each worker has a CPU"),
            Some(quota) if quota.cpus() <= access.cpus().len() => writeln!(f, "for a quota of {quota}"),
            _ => writeln!(f, "one for each accessible CPU"),
        }
    }

    fn describe_groups(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.layout();
        let numa = if layout.is_numa() { "on" } else { "off" };
        let (groups, workers) = (count(layout.groups(), "group"), count(layout.group_size(), "worker"));
        writeln!(f, "{groups} of {workers}, NUMA {numa}")?;
        write!(f, "  profile {}: {}", self.demand().profile, layout.why())?;
        if let Some(size) = self.wishes().group_size {
            write!(f, "; a size of {size} was asked for")?;
        }
        writeln!(f)?;
        let each = match (self.pinning().is_one_per_cpu(), self.chooses_cpus()) {
            (true, _) => ", one per worker",
            (false, true) => ", to which its threads are bound",
            (false, false) => ", but its threads are not bound",
        };
        for group in 0..layout.groups() {
            let cpus = self.pinning().group(group).unwrap_or_default();
            match self.pinning().node(group) {
                Some(node) => writeln!(f, "  group {group}: node {node}, CPUs {cpus}{each}")?,
                None => writeln!(f, "  group {group}: CPUs {cpus}{each}")?,
            }
        }
        Ok(())
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
