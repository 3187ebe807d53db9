//! Making fibers.
//!
//! # Safety
//!
//! Trusted with the references of a new fiber: the right to run it goes to the scheduler, the other one to its handle.
#![expect(unsafe_code, reason = "fibers are pointers, counted by hand")]

use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sinew_coroutine::LARGEST_CLASS;
use sinew_sched::Placement;

use super::body::Body;
use super::cell::FiberCell;
use super::handle::FiberHandle;
use super::host::{FiberHost, Reason};
use super::run;
use super::scope::ScopeData;
use super::worker_state::WorkerState;
use crate::rt::base::{Memory, ids, memory};
use crate::rt::timer::CoreTimers;
use crate::rt::wait::{
    Ambient, AmbientSlot, Birth, By, Control, Home, Inherits, Moves, NOWHERE, Target, region,
};

/// How a fiber is to be.
#[derive(Debug)]
pub(crate) struct Attributes {
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) moves: Moves,
    pub(crate) location: &'static Location<'static>,
    /// It is entered at once, before the fiber that makes it goes on.
    pub(crate) at_once: bool,
    pub(crate) target: Target,
    /// It never leaves the group where it begins.
    pub(crate) group_local: bool,
    /// It counts against the limit of fibers.
    pub(crate) is_limited: bool,
    pub(crate) scope: Option<Arc<ScopeData>>,
    /// It has the deadline of whoever makes it.
    pub(crate) inherits_deadline: bool,
}

impl Attributes {
    /// Those of a fiber without any wishes, that is made at this place.
    #[inline]
    pub(crate) fn new(location: &'static Location<'static>) -> Self {
        Self {
            name: None,
            stack_size: None,
            moves: Moves::UntilItRuns,
            location,
            at_once: false,
            target: Target::Nearest,
            group_local: false,
            is_limited: true,
            scope: None,
            inherits_deadline: false,
        }
    }
}

/// Why a fiber was not made. The body is in here.
pub(crate) struct SpawnRefused<F> {
    pub(crate) body: F,
    pub(crate) reason: Reason,
}

/// This size, if there are stacks of it at all.
///
/// # Errors
///
/// If none is that large.
pub(crate) fn check_size(size: usize) -> Result<usize, Reason> {
    if size > LARGEST_CLASS { Err(Reason::StackSize(size)) } else { Ok(size) }
}

/// A fiber that was made.
pub(crate) type Spawned<F, T> = Result<FiberHandle<T>, SpawnRefused<F>>;

/// From where a fiber is made.
#[derive(Clone, Copy)]
pub(crate) enum Site<'a> {
    /// On a worker of its host, by a fiber or by what the worker does in between.
    Worker(&'a WorkerState),
    /// Anywhere else, for this host.
    Outside(&'a Arc<FiberHost>),
}

impl<'a> Site<'a> {
    /// The caller's, for this host. Not to be kept across a suspension.
    #[inline]
    pub(crate) fn of(host: &'a Arc<FiberHost>) -> Self {
        match WorkerState::current().filter(|local| local.is_of(host.scheduler())) {
            Some(local) => Self::Worker(local),
            None => Self::Outside(host),
        }
    }

    /// The caller's, for the host of its worker, if it is on one. As [`of`](Self::of).
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        WorkerState::current().map(Self::Worker)
    }

    #[inline]
    pub(crate) fn host(self) -> &'a Arc<FiberHost> {
        match self {
            Self::Worker(local) => local.host(),
            Self::Outside(host) => host,
        }
    }

    /// Where a timer lives that is made here.
    #[inline]
    pub(crate) fn home(self) -> Arc<CoreTimers> {
        match self {
            Self::Worker(local) => local.host().homes.of(Some(local.worker())).clone(),
            Self::Outside(host) => host.homes.of(None).clone(),
        }
    }

    /// The number of a new fiber, which is counted.
    #[inline]
    fn count(self) -> NonZero<u64> {
        match self {
            Self::Worker(local) => {
                local.counters.spawned.add(1);
                local.next_id()
            }
            Self::Outside(host) => {
                host.outside().spawned.add_shared(1);
                ids::one()
            }
        }
    }

    /// One group after the other, for whoever makes fibers there.
    fn next_group(self) -> usize {
        let turn = match self {
            Self::Worker(local) => local.next_turn(),
            // Relaxed: it counts, and no more.
            Self::Outside(host) => host.turn.fetch_add(1, Ordering::Relaxed),
        };
        turn as usize % self.host().schedule().groups()
    }

    /// Gives a new fiber of what is in force for its maker.
    ///
    /// # Safety
    ///
    /// The caller has the right to run the fiber.
    #[inline(always)]
    unsafe fn hand_down(self, control: NonNull<Control>, inherits: Inherits) {
        match self {
            Self::Worker(local) => {
                // SAFETY: it runs, so it is there.
                let slot = local.fiber().map(|maker| unsafe { &maker.as_ref().ambient });
                let slot = slot.filter(|slot| !slot.is_empty());
                if slot.is_some() || inherits.of_scope.is_some() {
                    // SAFETY: the caller's right.
                    unsafe { hand_down(slot, control, inherits) };
                }
            }
            Self::Outside(_) => region::with_ambient(|slot| {
                // SAFETY: the caller's right.
                unsafe { hand_down(Some(slot), control, inherits) };
            }),
        }
    }

    #[inline]
    fn memory(self) -> Option<&'a Memory> {
        match self {
            Self::Worker(local) => Some(&local.memory),
            Self::Outside(_) => None,
        }
    }
}

/// Gives a new fiber of what is in force here.
///
/// # Safety
///
/// The caller has the right to run the fiber.
#[cold]
unsafe fn hand_down(slot: Option<&AmbientSlot>, control: NonNull<Control>, inherits: Inherits) {
    let for_child = |now: Option<&Arc<Ambient>>| Ambient::for_child(now, inherits);
    let ambient = slot.map_or_else(|| for_child(None), |slot| slot.look(for_child));
    // SAFETY: the caller's right.
    unsafe { control.as_ref() }.ambient.put(ambient);
}

/// Makes a fiber and has it run.
///
/// # Safety
///
/// The body and its result may go to the threads that `moves` has them go to, and live until the fiber has ended. The site is the
/// caller's.
#[inline]
pub(crate) unsafe fn spawn<F: Body<T>, T>(site: Site<'_>, attributes: Attributes, body: F) -> Spawned<F, T> {
    let (at_once, target) = (attributes.at_once, attributes.target);
    // SAFETY: the caller's promise.
    let (handle, control) = unsafe { make(site, attributes, body) }?;
    match site {
        // SAFETY: the right to run it is new, and ours.
        Site::Worker(local) if target == Target::Nearest => unsafe { start(local, control, at_once) },
        // SAFETY: as above.
        _ => unsafe { start_elsewhere(site, control, target) },
    }
    Ok(handle)
}

/// Makes a fiber. The right to run it is the caller's, besides the handle.
///
/// # Safety
///
/// As [`spawn`].
#[inline]
pub(super) unsafe fn make<F: Body<T>, T>(
    site: Site<'_>,
    attributes: Attributes,
    body: F,
) -> Result<(FiberHandle<T>, NonNull<Control>), SpawnRefused<F>> {
    let host = site.host();
    let checked = attributes.stack_size.map_or(Ok(host.settings.stack_size), check_size);
    let stack_size = match checked.and_then(|size| host.admit(attributes.is_limited).map(|()| size)) {
        Ok(size) => size,
        Err(reason) => return Err(SpawnRefused { body, reason }),
    };
    let group = match group_to_stay_in(site, attributes.target, attributes.group_local) {
        Ok(group) => group,
        Err(reason) => {
            host.release(attributes.is_limited);
            return Err(SpawnRefused { body, reason });
        }
    };
    let (place, memory) = memory::take(site.memory());
    let migrates = host.settings.migrates && attributes.moves == Moves::UntilItRuns;
    let of_scope = attributes.scope.as_deref().and_then(ScopeData::deadline);
    let inherits = Inherits { own: attributes.inherits_deadline, of_scope };
    let birth = Birth {
        id: site.count(),
        name: attributes.name,
        stack_size,
        moves: if migrates { Moves::Always } else { attributes.moves },
        group,
        is_limited: attributes.is_limited,
        location: attributes.location,
        memory,
    };
    // SAFETY: it was just taken.
    let control = unsafe { FiberCell::make(place, birth, attributes.scope, host, body) };
    // SAFETY: the right to run it is ours still.
    unsafe { site.hand_down(control, inherits) };
    // SAFETY: the other reference of a new fiber.
    Ok((unsafe { FiberHandle::new(control) }, control))
}

/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline]
unsafe fn start(local: &WorkerState, control: NonNull<Control>, at_once: bool) {
    // SAFETY: a fiber that runs is there.
    let may_enter = |running: NonNull<Control>| local.may_enter(unsafe { running.as_ref() });
    // A fiber that unwinds, or is in a panic hook, lets no other one run on its thread.
    if at_once && !local.must_hold_worker() && local.fiber().is_some_and(may_enter) {
        // SAFETY: the caller's right.
        if unsafe { run::enter(local, control, By::Fiber) }.is_ok() {
            return;
        }
    }
    // SAFETY: the right to run is a reference.
    let moves = unsafe { control.as_ref() }.birth.moves;
    // SAFETY: the caller's right, which it still has.
    let task = unsafe { Control::task(control) };
    match moves {
        Moves::Never => local.context().core().push(task),
        // SAFETY: the task is the right to run it, which is a reference.
        Moves::UntilItRuns | Moves::Always => local.schedule(task, unsafe { control.as_ref() }.begins()),
    }
}

/// Has a new fiber begin in a group that was chosen for it, or that a thread which is no worker has for it.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
unsafe fn start_elsewhere(site: Site<'_>, control: NonNull<Control>, target: Target) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { control.as_ref() };
    let to = match (this.begins(), target) {
        (Home::Anywhere, Target::Nearest) => Placement::Anyone,
        (Home::Anywhere, Target::Group(group)) => Placement::Group(group as usize),
        (Home::Anywhere, Target::Any) => Placement::Group(site.next_group()),
        (home, _) => home.placement(),
    };
    // SAFETY: the caller's right.
    site.host().schedule().schedule(unsafe { Control::task(control) }, to);
}

/// The group that a new fiber is to stay in, or [`NOWHERE`].
///
/// # Errors
///
/// If it is to begin in a group that there is not.
#[inline]
fn group_to_stay_in(site: Site<'_>, target: Target, group_local: bool) -> Result<u32, Reason> {
    if target == Target::Nearest && !group_local {
        Ok(NOWHERE)
    } else {
        choose_group(site, target, group_local)
    }
}

// By value: attributes that somebody points to would have to lie in memory, for every fiber.
#[cold]
fn choose_group(site: Site<'_>, target: Target, group_local: bool) -> Result<u32, Reason> {
    let groups = || site.host().schedule().groups();
    let group = match (target, site) {
        (Target::Group(group), _) if group as usize >= groups() => {
            return Err(Reason::NoGroup(group, groups()));
        }
        // Where it begins is chosen when it starts.
        _ if !group_local => NOWHERE,
        (Target::Group(group), _) => group,
        (Target::Nearest, Site::Worker(local)) => local.context().group().unwrap_or(0) as u32,
        (Target::Nearest | Target::Any, _) => site.next_group() as u32,
    };
    Ok(group)
}
