//! A description of a runtime for people: what was chosen, and why.

use std::fmt::Write;

use super::Handle;
use crate::rt::{EngineSettings, HostSettings, Layout};

impl Handle {
    /// Returns a text for people that describes the machine, the groups and why they were chosen,
    /// and the settings.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().groups([2, 1]).name("shop").start()?;
    /// let text = runtime.describe();
    /// assert!(text.contains("runtime 'shop': 3 workers in 2 groups"), "{text}");
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_description(&mut text);
        text
    }

    fn write_description(&self, text: &mut String) -> std::fmt::Result {
        let settings = &self.engine.settings;
        let (workers, groups) = (self.workers(), self.groups());
        writeln!(
            text,
            "runtime '{}': {} in {}",
            settings.name,
            count(workers, "worker"),
            count(groups, "group")
        )?;
        match &settings.layout {
            Layout::Given(sizes) => writeln!(text, "groups: {sizes:?}, as asked for")?,
            Layout::Planned(plan) => write!(text, "{plan}")?,
            Layout::Unknown(why) => {
                writeln!(text, "groups: a worker for each CPU; the machine is not known: {why}")?
            }
        }
        write_settings(text, settings, &self.engine.host().settings)
    }
}

fn write_settings(text: &mut String, settings: &EngineSettings, fibers: &HostSettings) -> std::fmt::Result {
    let moves = if fibers.migrates { "move at any suspension" } else { "stay where they have begun" };
    for variable in &settings.ignored {
        writeln!(text, "note: {variable} is ignored: groups are set in code or in a file, in another way")?;
    }
    writeln!(text, "strategy {}", settings.strategy)?;
    writeln!(text, "fibers: {moves}; stacks of {} bytes", fibers.stack_size)?;
    match fibers.max_fibers {
        Some(most) => writeln!(text, "  at most {most} at a time")?,
        None => writeln!(text, "  any number at a time")?,
    }
    let every = |rounds: u32| match rounds {
        0 => "never".to_owned(),
        rounds => format!("every {rounds} vain rounds"),
    };
    let (near, far) = (settings.steal_within_node.unwrap_or(16), settings.steal_across_nodes.unwrap_or(0));
    writeln!(
        text,
        "a worker without work looks at other groups of its node {}, of others {}",
        every(near),
        every(far)
    )?;
    writeln!(
        text,
        "queue of a group: {} fibers before it spills",
        settings.queue_capacity.unwrap_or(65_536)
    )?;
    if fibers.prewarm > 0 {
        writeln!(text, "stacks ready from the start: {}", fibers.prewarm)?;
    }
    writeln!(
        text,
        "calls that block: at most {}; each ends after {:?} without a call",
        count(settings.blocking_threads, "thread"),
        settings.blocking_idle
    )?;
    match settings.stall_report {
        Some(after) => writeln!(text, "a worker that is stuck for {after:?} is reported"),
        None => writeln!(text, "stuck workers are not reported"),
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
