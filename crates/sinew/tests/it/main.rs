//! Tests of the bridge, from the outside.

mod faults;
mod join;
mod movement;
mod panics;
mod park;
mod scope;
mod shutdown;
mod spawn;
mod support;
mod time;
