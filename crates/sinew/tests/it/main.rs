//! Tests of the bridge, from the outside.
//!
//! Where all is optimised as one program, which takes long, only what suspends fibers in most ways is there, and what may be lost by that: `cfg(sinew_fat)`.

mod batch;
#[cfg(not(sinew_fat))]
mod blocking;
#[cfg(not(sinew_fat))]
mod cancel;
#[cfg(not(sinew_fat))]
mod cancel_races;
#[cfg(not(sinew_fat))]
mod cancel_scope;
mod channel;
#[cfg(not(sinew_fat))]
mod context;
mod crowd;
#[cfg(not(sinew_fat))]
mod deadline;
#[cfg(not(sinew_fat))]
mod descriptors;
#[cfg(not(sinew_fat))]
mod examples;
#[cfg(not(sinew_fat))]
mod faults;
mod follow;
#[cfg(not(sinew_fat))]
mod fs;
#[cfg(not(sinew_fat))]
mod groups;
#[cfg(not(sinew_fat))]
mod info;
#[cfg(not(sinew_fat))]
mod interval;
mod invariants;
#[cfg(not(sinew_fat))]
mod io;
mod join;
#[cfg(not(sinew_fat))]
mod launch;
mod locals;
#[cfg(not(sinew_fat))]
mod locals_end;
mod movement;
#[cfg(not(sinew_fat))]
mod names;
#[cfg(not(sinew_fat))]
mod net;
mod no_suspend;
#[cfg(not(sinew_fat))]
mod nodes;
#[cfg(not(sinew_fat))]
mod numa;
#[cfg(not(sinew_fat))]
mod os_unix;
mod panics;
mod park;
mod pins;
mod runtimes;
#[cfg(not(sinew_fat))]
mod scope;
#[cfg(not(sinew_fat))]
mod settings;
#[cfg(not(sinew_fat))]
mod shutdown;
#[cfg(not(sinew_fat))]
mod signal;
mod spawn;
#[cfg(not(sinew_fat))]
mod stall;
#[cfg(not(sinew_fat))]
mod starving;
mod steps;
mod support;
mod sync;
#[cfg(not(sinew_fat))]
mod time;
#[cfg(not(sinew_fat))]
mod timer;
#[cfg(not(sinew_fat))]
mod timer_end;
#[cfg(not(sinew_fat))]
mod timer_fibers;
#[cfg(not(sinew_fat))]
mod timer_stress;
#[cfg(not(sinew_fat))]
mod token;
#[cfg(not(sinew_fat))]
mod work;
