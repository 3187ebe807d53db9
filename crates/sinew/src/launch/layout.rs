//! Turns settings into groups: as given, or planned for the machine.

use std::path::PathBuf;

use sinew_topology::{Plan, Selection, Wishes};

use super::config::Config;
use super::environment::MOST_WORKERS;
use super::error::StartError;
use crate::rt::Layout;

/// Returns the groups that the settings demand, on the machine that is described below this
/// directory.
///
/// # Errors
///
/// Returns an error if groups are both given and planned, or if they are not possible on the
/// machine.
pub(super) fn choose(config: &Config, root: Option<PathBuf>) -> Result<Layout, StartError> {
    let given = match (config.workers, &config.groups) {
        (Some(_), Some(_)) => {
            return Err(StartError::Contradiction { given: "workers", setting: "groups" });
        }
        (Some(workers), None) => Some(groups_of(workers)),
        (None, groups) => groups.clone(),
    };
    match (given, config.gives_by(), config.plans_by()) {
        (_, Some(given), Some(setting)) => Err(StartError::Contradiction { given, setting }),
        (Some(groups), _, _) => Ok(Layout::Given(groups)),
        (None, _, _) => plan(wishes(config), root.unwrap_or_else(|| PathBuf::from("/"))),
    }
}

/// Splits workers into as few groups as possible, of about the same size.
fn groups_of(workers: usize) -> Vec<usize> {
    let groups = workers.div_ceil(MOST_WORKERS).max(1);
    (0..groups).map(|group| workers / groups + usize::from(group < workers % groups)).collect()
}

fn plan(wishes: Wishes, root: PathBuf) -> Result<Layout, StartError> {
    match Plan::for_this_process(root, &wishes) {
        Ok(plan) => Ok(Layout::Planned(Box::new(plan))),
        // Without any demand, an unknown machine is no reason not to start.
        Err(error) if wishes == Wishes::default() => Ok(Layout::Unknown(error.to_string())),
        Err(error) => Err(StartError::Plan(error)),
    }
}

fn wishes(config: &Config) -> Wishes {
    Wishes {
        profile: config.profile.unwrap_or_default(),
        concurrency: config.concurrency,
        group_size: config.group_size,
        numa: config.numa,
        cpus: Selection { allowed: config.cpus.clone(), excluded: config.excluded_cpus.clone() },
        one_per_cpu: config.worker_per_cpu.unwrap_or(false),
    }
}
