//! The bridge: fibers made of coroutines and tasks. Knows none of the public names.

mod alarms;
mod ambient;
mod batch;
#[cfg(not(loom))]
mod bell;
#[cfg(loom)]
#[path = "bell_model.rs"]
mod bell;
mod block;
mod blocks;
mod body;
mod call;
mod callback;
mod callback_spec;
mod cancel;
mod cell;
mod census;
mod clock;
mod closing;
mod control;
mod core_timers;
mod counters;
mod crew;
mod desk;
mod driver;
mod due;
mod end;
mod ending;
mod engine;
mod epoll;
mod follow;
mod handle;
mod homes;
mod hook;
mod host;
mod ids;
mod in_place;
pub(crate) mod io;
mod join;
mod limit;
mod locals;
mod memory;
#[cfg(all(test, loom))]
pub(crate) mod model;
mod owner_lock;
mod padded;
mod pins;
mod queue;
mod ready;
mod reference;
mod region;
mod roster;
mod run;
mod running;
mod schedule;
mod scope;
#[cfg(not(loom))]
mod sleeper;
#[cfg(loom)]
#[path = "sleeper_model.rs"]
mod sleeper;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
mod spans;
mod spawn;
mod stacks;
mod stall;
mod starving;
mod steps;
mod stop;
pub(crate) mod sync;
mod target;
mod thread_block;
mod ticks;
mod timers;
mod tls;
mod turn;
mod unwind;
mod values;
mod wait;
mod wait_timers;
mod waiter;
mod wake;
mod word;
mod worker_local;
mod worker_state;

pub(crate) use ambient::Deadline;
pub(crate) use batch::spawn_batch;
pub(crate) use callback::{Callback, NoEnd, WeakCallback};
pub(crate) use callback_spec::{CallbackSettings, CallbackSpec};
pub use cell::{Abandoned, Discarded};
pub(crate) use census::Leak;
pub(crate) use clock::now;
pub(crate) use closing::AtClose;
pub(crate) use control::{Control, Moves, Status};
pub(crate) use counters::{All, Counters};
#[cfg(all(test, not(loom)))]
pub(crate) use crew::refuse_threads;
pub(crate) use crew::{blocking, blocking_or_stop};
pub(crate) use engine::{Engine, Layout, Settings};
pub(crate) use follow::Followers;
pub(crate) use handle::Handle;
pub(crate) use host::{Fates, FiberHost, HostSettings, Reason};
pub(crate) use in_place::in_place;
pub(crate) use locals::{Gone, Key, Used, get as get_local};
pub(crate) use padded::Padded;
pub(crate) use queue::{
    Door, Entered, Entrance, GaveUp, Limit, Locked, Outcome, Place, Queue, Stay, Wakes, wait_in_all,
};
pub(crate) use reference::FiberRef;
pub(crate) use region::{current_values, region};
pub(crate) use scope::{Failure, ScopeData};
pub(crate) use sinew_sched::spawn_thread;
pub(crate) use spawn::{Attributes, Refused, Site, check_size, spawn};
pub(crate) use steps::Steps;
pub(crate) use stop::{
    Node, Stop, What, Why, check as check_stop, deadline, is_cancelled, may_be_cancelled, park_thread,
    wait_for as wait_for_cancel, wait_or_stop,
};
#[cfg(all(test, not(loom)))]
pub(crate) use stop::{Poke, opening};
pub(crate) use target::Target;
pub use ticks::MissedTicks;
pub(crate) use ticks::Ticks;
pub(crate) use tls::{chance, thread_id};
pub(crate) use turn::{spend, spend_by_count};
pub(crate) use unwind::{catch as catch_panic, discard as discard_panic, drop_each};
pub(crate) use values::Values;
pub(crate) use wait::{
    Phase, caller, check_may_wait, give_way, is_unwinding, lets_others_run, may_wait, running, unpin, wait,
    yield_now,
};
pub(crate) use waiter::Waiter;
pub(crate) use wake::Claimed;
pub(crate) use word::{Cause, Ends};
