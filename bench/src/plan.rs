//! Plans what a run measures: the user's choice, crossed with what the workloads offer. A
//! combination that does not apply is left out, with a line that says so. The plan knows no
//! processes and no clocks.

use crate::panel;
use crate::peers::Peer;
use crate::workloads::{self, Entry, Workload};

/// What the user asked for; an empty list means everything. The names are valid.
#[derive(Default)]
pub(crate) struct Choice {
    /// Names of workloads.
    pub(crate) workloads: Vec<String>,
    /// Names of peers.
    pub(crate) peers: Vec<String>,
    /// Numbers of threads.
    pub(crate) threads: Vec<usize>,
}

/// One workload with one number of threads. Its peers are compared with one another.
pub(crate) struct Group {
    /// What is measured.
    pub(crate) workload: &'static Workload,
    /// The number of threads.
    pub(crate) threads: usize,
    /// The peers' parts.
    pub(crate) entries: Vec<&'static Entry>,
}

/// Everything to be measured, and what is left out.
pub(crate) struct Plan {
    /// In the order of measuring.
    pub(crate) groups: Vec<Group>,
    /// A line for each combination that was left out.
    pub(crate) skipped: Vec<String>,
}

impl Plan {
    /// Makes the plan. `available` returns whether an entry can be measured on this machine, or why
    /// not.
    pub(crate) fn new(choice: &Choice, available: impl Fn(&Entry) -> Result<(), String>) -> Self {
        let mut plan = Self { groups: Vec::new(), skipped: Vec::new() };
        for workload in workloads::ALL.iter().filter(|workload| wanted(&choice.workloads, workload.name)) {
            plan.add(workload, choice, &available);
        }
        plan
    }

    fn add(
        &mut self,
        workload: &'static Workload,
        choice: &Choice,
        available: &impl Fn(&Entry) -> Result<(), String>,
    ) {
        let entries = self.entries(workload, choice, available);
        let threads = if choice.threads.is_empty() { workload.default_threads() } else { &choice.threads };
        for &threads in threads {
            if workload.single_threaded && threads != 1 {
                self.skip(workload, &format!("with {threads} threads"), "it runs on one thread only");
                continue;
            }
            let mut group = Vec::new();
            for &entry in &entries {
                match entry.threads.objection(threads) {
                    None => group.push(entry),
                    Some(objection) if !choice.threads.is_empty() => {
                        let combination = format!("with {} on {}", entry.peer.name, panel::threads(threads));
                        self.skip(workload, &combination, objection);
                    }
                    // Thread counts that the user did not ask for are left out silently.
                    Some(_) => {}
                }
            }
            if !group.is_empty() {
                self.groups.push(Group { workload, threads, entries: group });
            }
        }
    }

    /// Returns the entries of this workload whose peers were chosen and can run.
    fn entries(
        &mut self,
        workload: &'static Workload,
        choice: &Choice,
        available: &impl Fn(&Entry) -> Result<(), String>,
    ) -> Vec<&'static Entry> {
        for name in choice.peers.iter().filter(|name| workload.entry(name).is_none()) {
            self.skip(workload, &format!("with {name}"), "the workload has no such peer");
        }
        let (mut entries, mut missing) = (Vec::new(), Vec::new());
        for entry in workload.all_entries().filter(|entry| is_chosen(choice, entry.peer)) {
            match available(entry) {
                Ok(()) => entries.push(entry),
                Err(reason) => missing.push((entry.peer.name, reason)),
            }
        }
        self.miss(workload, &missing, entries.is_empty());
        entries
    }

    /// Adds a line for each missing peer, or a single line if all are missing for the same reason.
    fn miss(&mut self, workload: &Workload, missing: &[(&str, String)], all: bool) {
        match missing {
            [(_, reason), others @ ..]
                if all && !others.is_empty() && others.iter().all(|(_, other)| other == reason) =>
            {
                self.skip(workload, "with all peers", reason);
            }
            _ => missing.iter().for_each(|(name, reason)| {
                self.skip(workload, &format!("with {name}"), reason);
            }),
        }
    }

    fn skip(&mut self, workload: &Workload, combination: &str, reason: &str) {
        self.skipped.push(format!("skipped: {} {combination}: {reason}", workload.name));
    }
}

/// Returns whether the peer was named, or none was and it is one of the usual ones.
fn is_chosen(choice: &Choice, peer: &Peer) -> bool {
    wanted(&choice.peers, peer.name) && !(choice.peers.is_empty() && peer.is_on_request())
}

fn wanted(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|wanted| wanted == name)
}

#[cfg(test)]
mod tests {
    use super::{Choice, Plan};
    use crate::workloads::{self, Entry};

    fn all(_: &Entry) -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn everything_is_the_default() {
        let plan = Plan::new(&Choice::default(), all);
        let names: Vec<_> = plan.groups.iter().map(|group| (group.workload.name, group.threads)).collect();
        assert_eq!(names[..4], [("switch", 1), ("create", 1), ("stack_pool", 1), ("stacks_1m", 1)]);
        assert_eq!(names[4..6], [("pool_submit", 1), ("pool_submit", 2)]);
        assert_eq!(names[6..8], [("pool_yield", 1), ("pool_yield", 2)]);
        assert_eq!(names[8..12], [("pool_wake", 1), ("pool_wake", 2), ("pool_idle", 1), ("pool_idle", 2)]);
        let fibers = [
            "yield",
            "spawn_seq",
            "spawn_batch_100k",
            "skynet_join",
            "skynet",
            "fib",
            "parked",
            "wake",
            "idle",
            "timers_100k",
            "timers_1000k",
            "sleep",
            "timer_cancel",
        ];
        let fibers = fibers.iter().flat_map(|&name| [(name, 1), (name, 2)]);
        let on_one = ["timer_set", "timer_kill", "timer_expiry", "local", "lock"].map(|name| (name, 1));
        let locks = ["mutex", "mutex_yield"].iter().flat_map(|&name| [(name, 1), (name, 2)]);
        let between = [("condvar", 1), ("rwlock", 1), ("rwlock", 2), ("chan", 1)];
        let channels =
            ["pingpong", "mpsc", "mpmc", "select8"].iter().flat_map(|&name| [(name, 1), (name, 2)]);
        let sync = locks.chain(between).chain(channels);
        let outside = ["blocking", "http", "http_c1000", "http_c10000"];
        let outside = outside.iter().flat_map(|&name| [(name, 1), (name, 2)]);
        let outside = outside.chain([("http_busy", 2)]);
        assert!(names[12..].iter().copied().eq(fibers.chain(on_one).chain(sync).chain(outside)));
        let mut with_ours = plan.groups.iter().filter(|group| group.workload.entry("sinew").is_some());
        assert!(with_ours.all(|group| group.entries[0].peer.name == "sinew"));
        assert!(plan.skipped.is_empty());
    }

    #[test]
    fn threads_that_do_not_apply_are_skipped() {
        let choice = Choice { workloads: vec!["switch".into()], threads: vec![2, 1], ..Choice::default() };
        let plan = Plan::new(&choice, all);
        assert_eq!(plan.groups.len(), 1);
        assert_eq!(plan.skipped, ["skipped: switch with 2 threads: it runs on one thread only"]);
    }

    #[test]
    fn a_peer_of_one_thread_has_no_part_with_more() {
        let both = Choice { workloads: vec!["http".into()], threads: vec![1, 2], ..Choice::default() };
        let plan = Plan::new(&both, all);
        let has = |threads: usize| {
            let mut entries =
                plan.groups.iter().filter(|group| group.threads == threads).flat_map(|group| &group.entries);
            entries.any(|entry| entry.peer.name == "tokio-ct")
        };
        assert_eq!((has(1), has(2)), (true, false));
        assert_eq!(plan.skipped, ["skipped: http with tokio-ct on 2 threads: it runs on one thread only"]);
    }

    #[test]
    fn a_peer_that_is_missing_is_skipped() {
        let choice = Choice { workloads: vec!["create".into()], ..Choice::default() };
        let plan = Plan::new(&choice, |entry| {
            if entry.peer.name == "go" { Err("not installed".to_owned()) } else { Ok(()) }
        });
        assert!(plan.groups[0].entries.iter().all(|entry| entry.peer.name != "go"));
        assert_eq!(plan.skipped, ["skipped: create with go: not installed"]);
    }

    #[test]
    fn a_workload_without_available_peers_is_skipped_with_one_line() {
        let choice = Choice { workloads: vec!["create".into()], ..Choice::default() };
        let plan = Plan::new(&choice, |_| Err("no such tool".to_owned()));
        assert!(plan.groups.is_empty());
        assert_eq!(plan.skipped, ["skipped: create with all peers: no such tool"]);
    }

    #[test]
    fn a_peer_outside_the_workload_is_skipped() {
        let choice = Choice { peers: vec!["sinew".into(), "none".into()], ..Choice::default() };
        let plan = Plan::new(&choice, all);
        let skipped: Vec<_> = plan.skipped.iter().filter(|line| line.contains("with none")).collect();
        assert_eq!(skipped.len(), workloads::ALL.len());
        assert_eq!(skipped[0], "skipped: switch with none: the workload has no such peer");
        assert!(plan.groups.iter().all(|group| group.entries.len() == 1));
    }
}
