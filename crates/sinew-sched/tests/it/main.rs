//! Tests of `sinew-sched`, a module per subject.

mod aside;
mod balance;
mod basics;
mod blocking;
mod core;
mod deadline;
mod discard;
mod drain;
mod driver_faults;
mod drivers;
mod exactly_once;
mod examples;
mod fairness;
mod faults;
mod groups;
mod mute;
mod numa;
mod pinned;
mod shutdown;
mod spares;
mod starting;
mod strategies;
mod support;
mod surplus;
mod wakes;
mod watchdog;
