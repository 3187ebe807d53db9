//! Tests of the bridge, from the outside.
//!
//! Where tests are slow to build or to run, some are left out: with `cfg(sinew_few)`, what does not
//! depend on the machine; with `cfg(sinew_fat)` as well, where all is optimised as one program,
//! only what suspends fibers in most ways is there, and what may be lost by that.

#[cfg(not(sinew_few))]
mod auto_traits;
mod batch;
#[cfg(not(sinew_fat))]
mod blocking;
#[cfg(not(sinew_few))]
mod cancel;
#[cfg(not(sinew_few))]
mod cancel_races;
#[cfg(not(sinew_few))]
mod cancel_scope;
#[cfg(not(sinew_few))]
mod capture;
mod channel;
#[cfg(not(sinew_few))]
mod context;
mod crowd;
#[cfg(not(sinew_few))]
mod deadline;
#[cfg(not(sinew_fat))]
mod descriptors;
#[cfg(not(sinew_few))]
mod drops;
mod enumeration;
#[cfg(not(sinew_fat))]
mod examples;
#[cfg(not(sinew_fat))]
mod fairness;
mod faults;
mod follow;
#[cfg(not(sinew_fat))]
mod fs;
#[cfg(not(sinew_few))]
mod groups;
#[cfg(not(sinew_few))]
mod info;
#[cfg(not(sinew_few))]
mod interval;
mod invariants;
#[cfg(not(sinew_fat))]
mod io;
mod join;
#[cfg(not(sinew_few))]
mod launch;
mod locals;
#[cfg(not(sinew_fat))]
mod locals_end;
mod movement;
#[path = "../../../sinew-sched/tests/it/mute.rs"]
mod mute;
#[cfg(not(sinew_few))]
mod names;
#[cfg(not(sinew_fat))]
mod net;
mod no_suspend;
#[cfg(not(sinew_few))]
mod nodes;
#[cfg(not(sinew_few))]
mod numa;
#[cfg(not(sinew_fat))]
mod os_unix;
mod panics;
mod park;
mod pins;
#[cfg(not(sinew_few))]
mod quiet;
mod runtime_handle;
mod runtimes;
#[path = "../../../sinew-sched/tests/it/watchdog.rs"]
mod watchdog;
// Sanitizers need what is refused there.
#[cfg(not(any(sinew_few, sinew_asan, sinew_tsan)))]
mod sandbox;
#[cfg(not(sinew_fat))]
mod scope;
#[cfg(not(sinew_few))]
mod settings;
#[cfg(not(sinew_fat))]
mod shutdown;
#[cfg(not(sinew_few))]
mod shutdown_report;
// ThreadSanitizer puts handlers off until their thread comes to a call of libc's that it knows, and
// ours sleep in the kernel without one.
#[cfg(not(any(sinew_fat, sinew_tsan)))]
mod signal;
mod spawn;
#[cfg(not(sinew_fat))]
mod stall;
#[cfg(not(sinew_fat))]
mod starving;
mod staying;
mod steps;
mod support;
mod sync;
#[cfg(not(sinew_few))]
mod thread_locals;
#[cfg(not(sinew_fat))]
mod time;
#[cfg(not(sinew_few))]
mod timer;
#[cfg(not(sinew_few))]
mod timer_end;
#[cfg(not(sinew_few))]
mod timer_fibers;
#[cfg(not(sinew_few))]
mod timer_stress;
#[cfg(not(sinew_few))]
mod token;
#[cfg(not(sinew_few))]
mod work;
