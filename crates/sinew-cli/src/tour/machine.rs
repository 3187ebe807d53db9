//! What the machine looks like to the runtime, and what it chose.

use sinew::Runtime;
use sinew::topology::{Plan, Wishes};

use crate::output::text::counted;
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::{check, check_equal};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "machine",
    title: "This machine, as the runtime sees it",
    about: "A runtime starts without any setting, and describes what it found and chose. `sinew doctor` says what to change.",
    guide: "where-fibers-run.md",
    share: 1,
    run,
};

fn run(_: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("default").start()?;
    let description = runtime.describe();

    let (workers, groups) = (runtime.workers() as u64, runtime.groups() as u64);
    let (workers_in_words, groups_in_words) = (counted(workers, "worker"), counted(groups, "group"));
    let headline = format!("runtime 'default': {workers_in_words} in {groups_in_words}");
    check_equal("the first line of the description", description.lines().next(), Some(&*headline))?;
    let members: usize = (0..runtime.groups()).filter_map(|group| runtime.group_size(group)).sum();
    check_equal("the workers of all groups", members as u64, workers)?;

    let plan = Plan::for_this_process("/", &Wishes::default())?;
    let cpus = plan.access().cpus();
    check(cpus.is_subset(plan.machine().online()), || {
        format!("CPUs {cpus} may be used, but are not online")
    })?;
    let mut findings = Findings::new(format!("{workers_in_words} in {groups_in_words}, on CPUs {cpus}"));
    for line in description.lines().skip(1) {
        findings = findings.note(line.trim());
    }
    Ok(findings
        .measure("workers", workers as f64, Unit::Count)
        .measure("groups", groups as f64, Unit::Count)
        .measure("CPUs that may be used", cpus.len() as f64, Unit::Count))
}
