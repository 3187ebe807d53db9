//! Waiting and waking, for fibers and threads: the control block and its wait word, waiters, the
//! wait queue, what may stop a wait, and the ambient values of the code that waits. Knows neither
//! who runs a fiber nor who fires its timers: both are seams, in [`schedule`] and [`wait_timers`].

pub(super) mod ambient;
#[cfg(not(loom))]
pub(super) mod bell;
#[cfg(loom)]
#[path = "bell_loom.rs"]
pub(super) mod bell;
pub(super) mod control;
pub(super) mod fiber_locals;
pub(super) mod home;
mod join;
pub(super) mod join_state;
pub(super) mod pins;
pub(super) mod queue;
pub(super) mod ready;
pub(super) mod reason;
pub(super) mod reference;
pub(super) mod region;
pub(super) mod running;
pub(super) mod schedule;
#[cfg(not(loom))]
pub(super) mod sleeper;
#[cfg(loom)]
#[path = "sleeper_loom.rs"]
pub(super) mod sleeper;
pub(super) mod stop;
pub(super) mod suspend;
pub(super) mod thread_block;
mod thread_blocks;
pub(super) mod tls;
pub(super) mod turn;
pub(super) mod values;
pub(super) mod wait_timers;
pub(super) mod waiter;
pub(super) mod wake;
pub(super) mod word;
pub(super) mod worker_local;
pub(super) mod yielding;

pub(super) use ambient::{Ambient, AmbientSlot, Deadline, Force, Inherits};
pub(super) use control::{
    Birth, BodyVtable, Control, Dropped, Ended, FiberCoroutine, Moves, NOWHERE, Pause, Status, Unrun,
};
pub(super) use fiber_locals::FiberLocals;
pub(super) use home::{Home, Target};
pub(super) use join_state::{AtEnd, Reference};
pub(super) use queue::{GaveUp, Limit, Outcome, Place, Queue, pick};
pub(super) use ready::make_ready;
pub(super) use reason::WaitKind;
pub(super) use reference::FiberRef;
pub(super) use running::Running;
pub(super) use schedule::{Schedule, Scheduler};
pub(super) use sleeper::Sleeper;
pub(super) use stop::{Above, Member, Node, Poke, Stop, What, Why};
pub(super) use suspend::{Phase, RunningFiber};
pub(super) use thread_block::ThreadBlock;
pub(super) use values::Values;
pub(super) use wait_timers::{WaitTimerId, WaitTimers, WakePlace};
pub(super) use waiter::Waiter;
pub(super) use wake::Claimed;
pub(super) use word::{Cause, Ends, WakeAction};
pub(super) use worker_local::{By, WorkerLocal, WorkerParts};
