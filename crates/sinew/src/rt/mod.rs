//! The bridge between coroutines and tasks: it makes fibers of both. Knows none of the public
//! names.
//!
//! Five modules, each of which knows only those before it: `base`, `wait`, `timer`, `fiber` and
//! `worker`.

mod base;
mod fiber;
#[cfg(all(test, loom))]
pub(crate) mod model;
#[cfg(all(test, not(loom)))]
mod single_core;
mod timer;
mod wait;
mod worker;

pub(crate) use base::clock::now;
pub(crate) use base::counters::{All, Counters};
pub(crate) use base::padded::Padded;
pub(crate) use base::sync;
pub(crate) use base::unwind::{catch as catch_panic, discard as discard_panic, drop_each};
pub(crate) use base::{impl_debug, impl_error, impl_unwind_safe};
pub(crate) use fiber::batch::spawn_batch;
pub(crate) use fiber::census::Leak;
pub(crate) use fiber::close_listeners::OnClose;
pub(crate) use fiber::handle::FiberHandle;
pub(crate) use fiber::host::{Fates, FiberHost, HostSettings, Reason, Unended};
pub(crate) use fiber::scope::{ScopeData, ScopeFailure};
pub(crate) use fiber::spawn::{Attributes, Site, SpawnRefused, check_size, spawn};
pub(crate) use fiber::steps::Steps;
pub(crate) use fiber::switch_hooks::SwitchHooks;
pub(crate) use sinew_sched::spawn_thread;
#[cfg(all(test, not(loom)))]
pub(crate) use single_core::run_on_one_core;
pub(crate) use timer::callback::{Callback, NoEnd, WeakCallback};
pub(crate) use timer::callback_spec::{CallbackSettings, CallbackSpec};
pub(crate) use timer::ticks::{Missed, Ticks};
pub(crate) use wait::ambient::Deadline;
pub(crate) use wait::control::{Control, Moves, Status};
pub(crate) use wait::fiber_locals::{Gone, LocalsKey, Used, get as get_local};
pub(crate) use wait::home::Target;
pub(crate) use wait::queue::{
    Door, Entered, Entrance, GaveUp, Limit, Locked, Outcome, Place, Queue, Stay, Wakes, pick, wait_in_all,
};
pub(crate) use wait::reason::WaitKind;
pub(crate) use wait::reference::FiberRef;
pub(crate) use wait::region::{current_values, region};
pub(crate) use wait::stop::{
    Node, Stop, What, Why, check as check_stop, deadline, is_cancelled, may_be_cancelled, park_thread,
    wait_for as wait_for_cancel, wait_or_stop,
};
#[cfg(all(test, not(loom)))]
pub(crate) use wait::stop::{Poke, opening};
pub(crate) use wait::suspend::{
    Phase, caller, check_may_wait, is_unwinding, lets_others_run, may_wait, running, unpin, wait,
};
pub(crate) use wait::tls::{chance, thread_id};
pub(crate) use wait::turn::{SYSTEM_CALL, spend, spend_for_group, spends_for_group};
pub(crate) use wait::values::Values;
pub(crate) use wait::waiter::Waiter;
pub(crate) use wait::wake::Claimed;
pub(crate) use wait::word::{Cause, Ends};
pub(crate) use wait::yielding::{give_way, yield_now};
#[cfg(all(test, not(loom)))]
pub(crate) use worker::blocking_pool::refuse_threads;
pub(crate) use worker::blocking_pool::{blocking, blocking_or_stop};
pub(crate) use worker::engine::{Engine, EngineSettings, Layout};
pub(crate) use worker::in_place::in_place;
pub(crate) use worker::io;
