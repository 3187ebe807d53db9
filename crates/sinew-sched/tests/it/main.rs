//! Tests of `sinew-sched`, a module per subject.

mod balance;
mod basics;
mod blocking;
mod core;
mod drivers;
mod exactly_once;
mod examples;
mod fairness;
mod faults;
mod shutdown;
mod support;
mod wakes;
