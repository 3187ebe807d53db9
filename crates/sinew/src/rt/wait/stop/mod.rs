//! Stopping: what may end a wait before its event and its time. Cancellation and deadlines are
//! errors that a wait returns, and only waits that can return errors observe them. Knows neither
//! what is waited for nor the public names.
//!
//! Two things count for the caller: the fiber's own node (see `fiber/cancel.rs`), unless it is
//! shielded, and the [ambient values](super::ambient) of the code that it runs, with one more node
//! and the nearest deadline. [`flag`] explains how a cancel meets a wait that begins at the same
//! moment.
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

/// The caller, with everything that may stop it.
struct Caller<'a> {
    /// # Invariant
    ///
    /// The fiber runs, so its control block is alive.
    fiber: Option<NonNull<Control>>,
    ambient: Option<&'a Ambient>,
}

/// What may end a wait that is about to begin.
struct Limits {
    deadline: Option<Deadline>,
    /// Whether a cancel may end the wait.
    may_cancel: bool,
}

/// Passes the caller to `look`, which runs no user code.
#[inline]
fn with_caller<R>(look: impl FnOnce(Caller<'_>) -> R) -> R {
    match suspend::running() {
        Some((_, fiber)) => {
            // SAFETY: the fiber runs, so its control block is alive.
            let slot = &unsafe { fiber.as_ref() }.ambient;
            slot.look(|ambient| look(Caller { fiber: Some(fiber), ambient: ambient.map(|now| &**now) }))
        }
        None => tls::with_ambient(|slot| {
            slot.look(|ambient| look(Caller { fiber: None, ambient: ambient.map(|now| &**now) }))
        }),
    }
}

impl Caller<'_> {
    /// Returns the node through which the fiber itself is cancelled, or `None` if no code can have
    /// cancelled it.
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
    /// Returns an error if the caller is to stop.
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

    /// Prepares a wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is to stop.
    #[inline]
    fn limits(&self) -> Result<Limits, Stop> {
        self.check()?;
        let Some(ambient) = self.ambient else { return Ok(Limits { deadline: None, may_cancel: true }) };
        if suspend::in_switch_hook() {
            // The fiber is enrolled, once, and it is the fiber that is poked.
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

/// Checks whether the caller may continue.
///
/// # Errors
///
/// Returns an error if the caller is to stop.
#[inline]
pub(crate) fn check() -> Result<(), Stop> {
    if is_unstoppable() { Ok(()) } else { check_bound() }
}

/// The slow path. Not inlined, so that callers contain the fast path only.
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

/// Returns whether the caller is a fiber that is not being stopped and has no ambient values: the
/// fast path.
#[inline]
fn is_unstoppable() -> bool {
    // SAFETY: the fiber runs, so its control block is alive.
    suspend::running().is_some_and(|(_, fiber)| unsafe { fiber.as_ref() }.is_unstoppable())
}

/// Returns whether the caller is cancelled. Ignores deadlines.
pub(crate) fn is_cancelled() -> bool {
    with_caller(|caller| caller.is_cancelled())
}

/// Returns the deadline in force.
pub(crate) fn deadline() -> Option<Instant> {
    with_caller(|caller| caller.ambient.and_then(|now| now.force.deadline).map(|deadline| deadline.at))
}

/// Returns whether anything may cancel the caller, which waits as a thread does.
pub(crate) fn may_be_cancelled() -> bool {
    with_caller(|caller| caller.node().is_some())
}

/// What stops the fibers of a scope, besides the scope itself.
pub(crate) struct Above {
    /// The fiber that opens the scope, unless it is shielded.
    pub(crate) opener: Option<FiberRef>,
    /// The node in force where the scope is opened.
    pub(crate) node: Option<Arc<Node>>,
    /// The deadline in force where the scope is opened.
    pub(crate) deadline: Option<Deadline>,
}

/// Returns what stops the fibers of a scope that the caller opens.
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

/// [Waits](suspend::wait), and observes cancellation and deadlines. If something other than the
/// event ends the wait, `publish` may have made the waiter known, and a late waker may still use
/// it: the caller takes the waiter back, as after a time-out.
///
/// A poke that was meant for a region around a shield is no reason to stop. This returns
/// [`Cause::Cancel`] then: the wait ended for nothing.
///
/// # Errors
///
/// Returns an error if the caller is to stop. Then the event has not happened, or the waiter was
/// not made known.
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
            // From here on, cancellers see the open wait.
            meet();
            stop = if is_unstoppable() { None } else { stop_of_bound() };
            is_published = stop.is_none() && publish(waiter);
            is_published
        });
    match (stop, cause, deadline) {
        // The unpark was used up. The next wait will be stopped.
        (_, Cause::Unpark, _) => Ok(cause),
        (Some(stop), ..) => Err(stop),
        // It may be poked though there was nothing to wait for.
        (None, Cause::Cancel, _) if !is_published => Ok(Cause::Event),
        (None, Cause::Cancel, _) => stop_of_bound().map_or(Ok(cause), Err),
        (None, Cause::Time, Some(deadline)) => Err(Stop::TimedOut(deadline)),
        (None, cause, _) => Ok(cause),
    }
}

/// Waits until a node is cancelled, or until this moment. Returns whether the node is cancelled.
/// Nothing else ends the wait.
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

/// Parks the calling thread, which is a plain one, and observes cancellation and deadlines. May
/// return for no reason.
///
/// # Errors
///
/// Returns an error if the caller is to stop. An unpark may be used up then: std does not report
/// what ended a park.
pub(crate) fn park_thread(until: Option<Instant>) -> Result<(), Stop> {
    check()?;
    let (node, deadline) = with_caller(|caller| {
        caller.ambient.map_or((None, None), |now| (now.force.node.clone(), now.force.deadline))
    });
    let this = || Member::new(FiberRef::of_thread(std::thread::current(), tls::thread_id()));
    let _enrolment = node.as_ref().map(|node| node.enrol(this()));
    // A later canceller unparks the thread.
    check()?;
    match [until, deadline.map(|deadline| deadline.at)].into_iter().flatten().min() {
        None => std::thread::park(),
        Some(until) => std::thread::park_timeout(until.saturating_duration_since(clock::now())),
    }
    check()
}
