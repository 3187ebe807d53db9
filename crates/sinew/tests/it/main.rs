//! Tests of the bridge, from the outside.

mod batch;
mod faults;
mod groups;
mod info;
mod invariants;
mod join;
mod launch;
mod locals;
mod locals_end;
mod movement;
mod names;
mod no_suspend;
mod panics;
mod park;
mod pins;
mod runtimes;
mod scope;
mod settings;
mod shutdown;
mod spawn;
mod stall;
mod starving;
mod steps;
mod support;
mod time;
