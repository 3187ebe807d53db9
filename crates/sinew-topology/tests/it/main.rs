//! Tests of `sinew-topology`, on machines described by files.

mod access;
mod cgroups;
mod cpu_sets;
mod layouts;
mod machines;
mod odd_machines;
mod pins;
mod plans;
mod profiles;
mod selections;
mod tree;

use sinew_topology::CpuSet;

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}
