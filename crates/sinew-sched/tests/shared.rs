//! Runs the tests that depend on the strategy again, with the other strategy.

#[path = "it/balance.rs"]
mod balance;
#[path = "it/basics.rs"]
mod basics;
#[path = "it/blocking.rs"]
mod blocking;
#[path = "it/clock.rs"]
mod clock;
#[path = "it/deadline.rs"]
mod deadline;
#[path = "it/deferred.rs"]
mod deferred;
#[path = "it/discard.rs"]
mod discard;
#[path = "it/drain.rs"]
mod drain;
#[path = "it/driver_faults.rs"]
mod driver_faults;
#[path = "it/drivers.rs"]
mod drivers;
#[path = "it/exactly_once.rs"]
mod exactly_once;
#[path = "it/fairness.rs"]
mod fairness;
#[path = "it/groups.rs"]
mod groups;
#[path = "it/mute.rs"]
mod mute;
#[path = "it/shutdown.rs"]
mod shutdown;
#[path = "it/spares.rs"]
mod spares;
#[path = "it/starting.rs"]
mod starting;
#[path = "it/support.rs"]
mod support;
#[path = "it/surplus.rs"]
mod surplus;
#[path = "it/wakes.rs"]
mod wakes;
#[path = "it/watchdog.rs"]
mod watchdog;
