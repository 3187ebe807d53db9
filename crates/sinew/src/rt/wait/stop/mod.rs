//! Stopping: what may end a wait before its event and its time, and how it is looked for. Cancellation and deadlines are errors that
//! a wait returns, and only one that can say so. Knows neither what is waited for nor the public names.
//!
//! What counts for the caller: the fiber's own node (see `fiber/cancel.rs`), unless it is shielded,
//! and what is [in force](super::ambient) where it runs: one more node, and the nearest deadline.
//! How a cancel meets a wait that begins at the same moment is in [`flag`].
//!
//! # Safety
//!
//! Trusted with the running fiber.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

mod flag;
mod member;
mod node;
mod own;
mod slots;
#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
pub(crate) use flag::StopFlag;
pub(crate) use flag::meet;
#[cfg(all(test, not(loom)))]
pub(crate) use flag::opening;
pub(crate) use member::{Member, Poke};
pub(crate) use node::{Enrolment, Node, What, Why};
pub(crate) use own::OwnNode;

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

use super::ambient::{Ambient, Deadline};
use super::control::Control;
use super::reason::{WaitKind, WaitOn};
use super::reference::FiberRef;
use super::suspend::Phase;
use super::waiter::Waiter;
use super::word::{Cause, Ends};
use super::{suspend, tls};
use crate::rt::base::clock;

/// Why the caller is to stop.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    Cancelled(Arc<Why>),
    TimedOut(Deadline),
}

/// The caller, as it is seen by what may stop it.
struct Caller<'a> {
    /// # Invariant
    ///
    /// It runs, so it is there.
    fiber: Option<NonNull<Control>>,
    ambient: Option<&'a Ambient>,
}

/// What may end a wait that is about to begin.
struct Limits {
    deadline: Option<Deadline>,
    /// Something may cancel it.
    may_cancel: bool,
}

/// Shows the caller to `look`, which runs no code of the user's.
#[inline]
fn with_caller<R>(look: impl FnOnce(Caller<'_>) -> R) -> R {
    match suspend::running() {
        Some((_, fiber)) => {
            // SAFETY: it runs, so it is there.
            let slot = &unsafe { fiber.as_ref() }.ambient;
            slot.look(|ambient| look(Caller { fiber: Some(fiber), ambient: ambient.map(|now| &**now) }))
        }
        None => tls::with_ambient(|slot| {
            slot.look(|ambient| look(Caller { fiber: None, ambient: ambient.map(|now| &**now) }))
        }),
    }
}

impl Caller<'_> {
    /// What the fiber itself is cancelled through; none, if nobody can have cancelled it.
    #[inline]
    fn own(&self) -> Option<&Node> {
        let fiber = self.fiber.filter(|_| !self.ambient.is_some_and(|now| now.force.is_shielded))?;
        // SAFETY: the invariant of `fiber`.
        let this = unsafe { fiber.as_ref() };
        if this.own.get().is_none() && this.is_scoped {
            // SAFETY: as above.
            unsafe { (this.body.make_node)(fiber) };
        }
        this.own.get().map(|own| &**own)
    }

    #[inline]
    fn node(&self) -> Option<&Node> {
        self.ambient.and_then(|now| now.force.node.as_deref())
    }

    #[inline]
    fn is_cancelled(&self) -> bool {
        self.own().is_some_and(Node::is_cancelled) || self.node().is_some_and(Node::is_cancelled)
    }

    fn cancelled(&self) -> Option<Stop> {
        let why = |node: Option<&Node>| node.filter(|node| node.is_cancelled())?.why();
        self.is_cancelled().then(|| why(self.own()).or_else(|| why(self.node())).map(Stop::Cancelled))?
    }

    /// # Errors
    ///
    /// If the caller is to stop.
    #[inline]
    fn check(&self) -> Result<(), Stop> {
        if let Some(stop) = self.cancelled() {
            return Err(stop);
        }
        match self.ambient.and_then(|now| now.force.deadline) {
            Some(deadline) if deadline.at <= clock::now() => Err(Stop::TimedOut(deadline)),
            _ => Ok(()),
        }
    }

    /// Gets ready for a wait.
    ///
    /// # Errors
    ///
    /// If the caller is to stop.
    #[inline]
    fn limits(&self) -> Result<Limits, Stop> {
        self.check()?;
        let Some(ambient) = self.ambient else { return Ok(Limits { deadline: None, may_cancel: true }) };
        if suspend::in_switch_hook() {
            // It is the fiber that is enrolled, once, and that is poked.
            return Ok(Limits { deadline: ambient.force.deadline, may_cancel: false });
        }
        ambient.enrol(|| self.member());
        let may_cancel = !ambient.force.is_shielded || ambient.force.node.is_some();
        Ok(Limits { deadline: ambient.force.deadline, may_cancel })
    }

    fn member(&self) -> Member {
        match self.fiber {
            // SAFETY: the invariant of `fiber`.
            Some(fiber) if !suspend::in_switch_hook() => Member::new(unsafe { FiberRef::new(fiber) }),
            _ => Member::new(tls::thread_block()),
        }
    }
}

/// Whether the caller may go on.
///
/// # Errors
///
/// If it is to stop.
#[inline]
pub(crate) fn check() -> Result<(), Stop> {
    if is_unstoppable() { Ok(()) } else { check_bound() }
}

/// The long way is kept out of those who take the short one.
#[inline(never)]
fn check_bound() -> Result<(), Stop> {
    with_caller(|caller| caller.check())
}

#[inline(never)]
fn limits_of_bound() -> Result<Limits, Stop> {
    with_caller(|caller| caller.limits())
}

#[inline(never)]
fn stop_of_bound() -> Option<Stop> {
    with_caller(|caller| caller.cancelled())
}

/// Whether the caller is a fiber that nobody has begun to stop, and that has nothing in force: a short way for most.
#[inline]
fn is_unstoppable() -> bool {
    // SAFETY: it runs, so it is there.
    suspend::running().is_some_and(|(_, fiber)| unsafe { fiber.as_ref() }.is_unstoppable())
}

/// Whether the caller is cancelled, whatever the time.
pub(crate) fn is_cancelled() -> bool {
    with_caller(|caller| caller.is_cancelled())
}

/// The deadline in force.
pub(crate) fn deadline() -> Option<Instant> {
    with_caller(|caller| caller.ambient.and_then(|now| now.force.deadline).map(|deadline| deadline.at))
}

/// Whether there is anything that may cancel the caller, which waits as a thread does.
pub(crate) fn may_be_cancelled() -> bool {
    with_caller(|caller| caller.node().is_some())
}

/// What stops the fibers of a scope, beside the scope itself.
pub(crate) struct Above {
    /// The fiber that opens the scope, unless it is shielded.
    pub(crate) opener: Option<FiberRef>,
    /// The node in force where the scope is opened.
    pub(crate) node: Option<Arc<Node>>,
    /// The deadline in force there.
    pub(crate) deadline: Option<Deadline>,
}

/// What stops the fibers of a scope that the caller opens.
pub(crate) fn above_scope() -> Above {
    with_caller(|caller| {
        let fiber = caller.fiber.filter(|_| !caller.ambient.is_some_and(|now| now.force.is_shielded));
        // SAFETY: the invariant of `fiber`.
        let opener = fiber.map(|fiber| unsafe { FiberRef::new(fiber) });
        let force = caller.ambient.map(|now| &now.force);
        let node = force.and_then(|force| force.node.clone());
        Above { opener, node, deadline: force.and_then(|force| force.deadline) }
    })
}

/// [Waits](suspend::wait) where cancellation and deadlines count. If something else than the event
/// ends the wait, `publish` may have made the waiter known, and a waker that knows it may be late:
/// the caller takes it back, as after its time.
///
/// A poke that was meant for a region around a shield is no reason to stop; [`Cause::Cancel`] says that the wait ended for nothing.
///
/// # Errors
///
/// If the caller is to stop. What it waited for has not come then, or nobody was told of the wait.
#[inline]
pub(crate) fn wait_or_stop(
    phase: Phase,
    on: WaitOn,
    ends: Ends,
    until: Option<Instant>,
    publish: impl FnOnce(Waiter) -> bool,
) -> Result<Cause, Stop> {
    let limits = match is_unstoppable() {
        true => Limits { deadline: None, may_cancel: true },
        false => limits_of_bound()?,
    };
    let ends = if limits.may_cancel { ends.or_cancel() } else { ends };
    let deadline = limits.deadline.filter(|deadline| until.is_none_or(|until| deadline.at <= until));
    let (mut stop, mut is_published) = (None, false);
    let cause =
        suspend::wait(phase, on, ends, deadline.map_or(until, |deadline| Some(deadline.at)), |waiter| {
            // The wait is open from here on for cancellers.
            meet();
            stop = if is_unstoppable() { None } else { stop_of_bound() };
            is_published = stop.is_none() && publish(waiter);
            is_published
        });
    match (stop, cause, deadline) {
        // It was used up: the next wait will be stopped.
        (_, Cause::Unpark, _) => Ok(cause),
        (Some(stop), ..) => Err(stop),
        // It may be poked though there was nothing to wait for.
        (None, Cause::Cancel, _) if !is_published => Ok(Cause::Event),
        (None, Cause::Cancel, _) => stop_of_bound().map_or(Ok(cause), Err),
        (None, Cause::Time, Some(deadline)) => Err(Stop::TimedOut(deadline)),
        (None, cause, _) => Ok(cause),
    }
}

/// Waits until a node is cancelled, or this moment. Whether it is. Nothing else ends the wait.
pub(crate) fn wait_for(node: &Arc<Node>, until: Option<Instant>) -> bool {
    let _enrolment = node.enrol(with_caller(|caller| caller.member()));
    let mut phase = Phase::First;
    while !node.is_cancelled() {
        let on = WaitKind::Cancellation.on(&**node);
        let cause = suspend::wait(phase, on, Ends::EventOrCancel, until, |_| {
            meet();
            !node.is_cancelled()
        });
        if cause == Cause::Time {
            return node.is_cancelled();
        }
        phase = Phase::Later;
    }
    true
}

/// Parks the calling thread, which is a plain one, where cancellation and deadlines count. May return for no reason.
///
/// # Errors
///
/// If the caller is to stop. An unpark may be used up then: std does not tell what ended a park.
pub(crate) fn park_thread(until: Option<Instant>) -> Result<(), Stop> {
    check()?;
    let (node, deadline) = with_caller(|caller| {
        caller.ambient.map_or((None, None), |now| (now.force.node.clone(), now.force.deadline))
    });
    let this = || Member::new(FiberRef::of_thread(std::thread::current(), tls::thread_id()));
    let _enrolment = node.as_ref().map(|node| node.enrol(this()));
    // Who cancels later unparks it.
    check()?;
    match [until, deadline.map(|deadline| deadline.at)].into_iter().flatten().min() {
        None => std::thread::park(),
        Some(until) => std::thread::park_timeout(until.saturating_duration_since(clock::now())),
    }
    check()
}
