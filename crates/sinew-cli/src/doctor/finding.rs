//! Findings: facts in words, with advice where something is wrong, and only there.

use sinew::coroutine::GuardKind;
use sinew::topology::Quota;

use super::facts::{Cpus, Facts};
use crate::machine::system_calls::Answer;
use crate::output::text::{bytes, counted, grouped};

/// A fact in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// What to change, if something is wrong.
    pub(super) advice: Option<String>,
}

/// The first Linux with guards that are no mappings.
const GUARD_ADVICE_SINCE: (u32, u32) = (6, 13);

/// The limit of mappings of most systems.
const USUAL_MAPPINGS: u64 = 65_530;

/// Fewer descriptors are used up by some thousands of connections.
const FEW_DESCRIPTORS: u64 = 4_096;

/// With less memory, some ten thousand fibers are too many.
const LITTLE_MEMORY: u64 = 256 << 20;

/// Returns what is said of the facts, in the order in which it is shown.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![
        finding("kernel", format!("Linux {}, {}", facts.release, std::env::consts::ARCH)),
        guards(facts),
        epoll(facts.epoll_pwait2),
        barrier(facts.has_membarrier),
        finding("io_uring", format!("{}; the runtime does not use it", in_words(facts.io_uring))),
    ];
    findings.extend(cpus(&facts.cpus));
    findings.extend([memory(facts), overcommit(facts), descriptors(facts.descriptors), mappings(facts)]);
    let huge_pages = facts.huge_pages.as_deref().unwrap_or("not known");
    findings.push(finding("huge pages", format!("{huge_pages}; stacks of fibers have none")));
    findings
}

fn finding(name: &'static str, value: impl Into<String>) -> Finding {
    Finding { name, value: value.into(), advice: None }
}

impl Finding {
    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

fn guards(facts: &Facts) -> Finding {
    if facts.guards == GuardKind::Advice {
        return finding(
            "stack guards",
            "by MADV_GUARD_INSTALL, which works: stacks need no mappings of their own",
        );
    }
    let room = grouped(facts.mappings / 2);
    let found =
        finding("stack guards", format!("by mprotect: 2 mappings for each stack, {room} stacks at most"));
    if version(&facts.release) < Some(GUARD_ADVICE_SINCE) {
        let raise = "raise vm.max_map_count where more fibers wait at the same time";
        return found
            .advise(format!("Linux 6.13 and later have guards without mappings. Until then, {raise}."));
    }
    found.advise(
        "The kernel's release has MADV_GUARD_INSTALL, but it guards nothing here: an emulator or a sandbox may ignore it, \
         or memory is locked (mlockall). Run without these.",
    )
}

/// The two first numbers of a release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn in_words(answer: Answer) -> &'static str {
    match answer {
        Answer::Works => "works",
        Answer::Missing => "the kernel does not have it",
        Answer::Forbidden => "forbidden here",
    }
}

fn epoll(answer: Answer) -> Finding {
    let found = finding("epoll_pwait2", in_words(answer));
    match answer {
        Answer::Works => found,
        Answer::Missing => found.advise("Linux 5.11 and later have it. Without it, each sleep of a worker takes two system calls."),
        Answer::Forbidden => found.advise(
            "Allow epoll_pwait2 in the filter of system calls (seccomp). Without it, each sleep of a worker takes two.",
        ),
    }
}

fn barrier(has_membarrier: bool) -> Finding {
    if has_membarrier {
        return finding("membarrier", "works");
    }
    let cost = "Without it, workers pay for a memory barrier at each fiber that begins or ends.";
    finding("membarrier", "refused")
        .advise(format!("Allow membarrier in the filter of system calls (seccomp). {cost}"))
}

fn cpus(cpus: &Result<Cpus, String>) -> Vec<Finding> {
    let cpus = match cpus {
        Ok(cpus) => cpus,
        Err(error) => {
            let advice = "Mount /sys and /proc, or set the number of workers yourself (SINEW_WORKERS).";
            return vec![finding("CPUs", format!("not known: {error}")).advise(advice)];
        }
    };
    let Cpus { online, accessible, nodes, quota, notes } = cpus;
    let mut value = format!("{accessible} of {online} may be used");
    notes.iter().for_each(|note| value.push_str(&format!("; {note}")));
    let nodes = counted(*nodes as u64, "node");
    let limit =
        finding("CPU limit", quota.map_or("none".to_owned(), |quota| format!("{quota}, by a control group")));
    let limit = if quota.is_some() && *quota < Quota::new(1, 1) {
        limit.advise(
            "Less than one CPU: the kernel stops every worker for a part of each period, which shows as latency. \
             Raise the quota of the control group.",
        )
    } else {
        limit
    };
    vec![finding("CPUs", value), finding("NUMA", nodes), limit]
}

fn memory(facts: &Facts) -> Finding {
    let size = |value: Option<u64>| value.map_or("not known".to_owned(), bytes);
    let mut value = format!("{} available", size(facts.memory.available));
    if let Some(limit) = facts.memory.limit {
        let left = size(facts.memory.left);
        value.push_str(&format!("; {left} left of {}, the limit of a control group", bytes(limit)));
    }
    let found = finding("memory", value);
    match facts.memory.free() {
        Some(free) if free < LITTLE_MEMORY => {
            // A waiting fiber takes a page of stack, and less than another one for all else.
            let fibers = grouped(free / (6 << 10));
            found.advise(format!(
                "This has room for about {fibers} fibers that wait. Free memory, or raise the limit."
            ))
        }
        _ => found,
    }
}

fn overcommit(facts: &Facts) -> Finding {
    let found = match facts.address_space {
        Some(limit) => finding("address space", format!("{} at most", bytes(limit))),
        None => finding("address space", "not limited"),
    };
    if facts.overcommit == Some(2) {
        return found.advise(
            "vm.overcommit_memory is 2, so every stack counts in full, used or not. Set it to 0 or 1, or make stacks \
             smaller (SINEW_STACK_SIZE).",
        );
    }
    match facts.address_space {
        Some(_) => found
            .advise("Every stack counts in full, used or not. Take the limit away (`ulimit -v unlimited`)."),
        None => found,
    }
}

fn descriptors((soft, hard): (u64, u64)) -> Finding {
    let number = |limit: u64| if limit == u64::MAX { "any number".to_owned() } else { grouped(limit) };
    let found = finding("open files", format!("{} at most; may be raised to {}", number(soft), number(hard)));
    match (soft, hard) {
        (FEW_DESCRIPTORS.., _) => found,
        (_, FEW_DESCRIPTORS..) => {
            let raise = if hard == u64::MAX { FEW_DESCRIPTORS } else { hard };
            found.advise(format!("Each connection takes one. Raise the limit before the program starts: `ulimit -n {raise}`."))
        }
        _ => found.advise(
            "Each connection takes one. Raise the limit as root: in /etc/security/limits.conf, by LimitNOFILE of a systemd \
             unit, or by --ulimit of a container.",
        ),
    }
}

fn mappings(facts: &Facts) -> Finding {
    let found = finding("mappings", format!("{} at most (vm.max_map_count)", grouped(facts.mappings)));
    if facts.mappings < USUAL_MAPPINGS {
        return found.advise(format!(
            "Most systems have {USUAL_MAPPINGS}: `sysctl vm.max_map_count={USUAL_MAPPINGS}`."
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::memory::Memory;

    /// A machine without anything to change.
    fn healthy() -> Facts {
        Facts {
            release: "6.18.5-test".to_owned(),
            guards: GuardKind::Advice,
            epoll_pwait2: Answer::Works,
            has_membarrier: true,
            io_uring: Answer::Missing,
            cpus: Ok(healthy_cpus()),
            memory: Memory { available: Some(8 << 30), limit: Some(4 << 30), left: Some(3 << 30) },
            descriptors: (20_000, 20_000),
            mappings: USUAL_MAPPINGS,
            address_space: None,
            overcommit: Some(0),
            huge_pages: Some("always".to_owned()),
            runtime: Ok(String::new()),
        }
    }

    fn healthy_cpus() -> Cpus {
        Cpus { online: 8, accessible: 4, nodes: 1, quota: Quota::new(150, 100), notes: Vec::new() }
    }

    /// The only finding with advice, and the advice.
    fn advice(facts: &Facts) -> (&'static str, String) {
        let mut advised = findings(facts).into_iter().filter(|finding| finding.advice.is_some());
        let (first, more) = (advised.next().expect("advice"), advised.next());
        assert_eq!(more, None);
        (first.name, first.advice.unwrap())
    }

    #[test]
    fn where_nothing_is_wrong_there_is_no_advice() {
        let findings = findings(&healthy());
        assert!(findings.iter().all(|finding| finding.advice.is_none()), "{findings:#?}");
    }

    /// A finding, words of its advice, and the change that brings it about.
    type Case<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Facts));

    #[test]
    fn each_fault_has_its_advice_and_no_other() {
        let with = |change: &dyn Fn(&mut Facts)| {
            let mut facts = healthy();
            change(&mut facts);
            advice(&facts)
        };
        let cases: [Case<'_>; 13] = [
            ("stack guards", "guards nothing here", &|facts| facts.guards = GuardKind::Protection),
            ("stack guards", "Linux 6.13 and later", &|facts| {
                (facts.guards, facts.release) = (GuardKind::Protection, "6.12.9".to_owned());
            }),
            ("epoll_pwait2", "Linux 5.11", &|facts| facts.epoll_pwait2 = Answer::Missing),
            ("epoll_pwait2", "seccomp", &|facts| facts.epoll_pwait2 = Answer::Forbidden),
            ("membarrier", "seccomp", &|facts| facts.has_membarrier = false),
            ("CPUs", "SINEW_WORKERS", &|facts| facts.cpus = Err("no files".to_owned())),
            ("CPU limit", "Raise the quota", &|facts| {
                facts.cpus = Ok(Cpus { quota: Quota::new(50, 100), ..healthy_cpus() });
            }),
            ("memory", "10,922 fibers", &|facts| facts.memory.left = Some(64 << 20)),
            ("address space", "overcommit", &|facts| facts.overcommit = Some(2)),
            ("address space", "ulimit -v", &|facts| facts.address_space = Some(1 << 30)),
            ("open files", "`ulimit -n 524288`", &|facts| facts.descriptors = (1_024, 524_288)),
            ("open files", "as root", &|facts| facts.descriptors = (256, 256)),
            ("mappings", "sysctl", &|facts| facts.mappings = 1_000),
        ];
        for (name, words, change) in cases {
            let (advised, advice) = with(change);
            assert_eq!(advised, name);
            assert!(advice.contains(words), "{name}: {advice}");
        }
    }

    #[test]
    fn releases_are_compared_as_numbers() {
        assert_eq!(
            ["6.13.0", "6.9-rc1", "5.10.0-21-amd64"].map(version),
            [Some((6, 13)), Some((6, 9)), Some((5, 10))]
        );
        assert_eq!(version("unknown"), None);
    }
}
