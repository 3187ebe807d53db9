//! Machines that we do not have, described by files.

mod cpu_sets;
mod selections;

use sinew_sched::CpuSet;

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}
