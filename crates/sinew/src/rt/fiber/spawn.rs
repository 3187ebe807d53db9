//! Making fibers.
//!
//! # Safety
//!
//! Trusted with the references of a new fiber: the right to run it goes to the scheduler, the other
//! one to its handle.
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

/// Settings for a new fiber.
#[derive(Debug)]
pub(crate) struct Attributes {
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) moves: Moves,
    pub(crate) location: &'static Location<'static>,
    /// Whether it is entered at once, before its parent continues.
    pub(crate) at_once: bool,
    pub(crate) target: Target,
    /// Whether it never leaves the group where it begins.
    pub(crate) group_local: bool,
    /// Whether it counts against the limit of fibers.
    pub(crate) is_limited: bool,
    pub(crate) scope: Option<Arc<ScopeData>>,
    /// Whether it inherits the deadline of its parent.
    pub(crate) inherits_deadline: bool,
}

impl Attributes {
    /// Returns the default settings of a fiber that is spawned at this location.
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

/// Why a fiber was not made, with its body.
pub(crate) struct SpawnRefused<F> {
    pub(crate) body: F,
    pub(crate) reason: Reason,
}

/// Returns this size if there are stacks of it.
///
/// # Errors
///
/// Returns an error if no stack is that large.
pub(crate) fn check_size(size: usize) -> Result<usize, Reason> {
    if size > LARGEST_CLASS { Err(Reason::StackSize(size)) } else { Ok(size) }
}

/// The result of making a fiber.
pub(crate) type Spawned<F, T> = Result<FiberHandle<T>, SpawnRefused<F>>;

/// The place from which a fiber is spawned.
#[derive(Clone, Copy)]
pub(crate) enum Site<'a> {
    /// A worker of its host: a fiber, or the worker itself between fibers.
    Worker(&'a WorkerState),
    /// Any other thread, for this host.
    Outside(&'a Arc<FiberHost>),
}

impl<'a> Site<'a> {
    /// Returns the caller's site, for this host. Must not be kept across a suspension.
    #[inline]
    pub(crate) fn of(host: &'a Arc<FiberHost>) -> Self {
        match WorkerState::current().filter(|local| local.is_of(host.scheduler())) {
            Some(local) => Self::Worker(local),
            None => Self::Outside(host),
        }
    }

    /// Returns the caller's site for the host of its worker, if the caller is on a worker. As for
    /// [`of`](Self::of).
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

    /// Returns the home of a timer that is made here.
    #[inline]
    pub(crate) fn home(self) -> Arc<CoreTimers> {
        match self {
            Self::Worker(local) => local.host().homes.of(Some(local.worker())).clone(),
            Self::Outside(host) => host.homes.of(None).clone(),
        }
    }

    /// Counts a new fiber, and returns its number.
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

    /// Returns the groups in turn.
    fn next_group(self) -> usize {
        let turn = match self {
            Self::Worker(local) => local.next_turn(),
            // Relaxed: a mere counter.
            Self::Outside(host) => host.turn.fetch_add(1, Ordering::Relaxed),
        };
        turn as usize % self.host().schedule().groups()
    }

    /// Passes the ambient values of its parent to a new fiber.
    ///
    /// # Safety
    ///
    /// The caller has the right to run the fiber.
    #[inline(always)]
    unsafe fn hand_down(self, control: NonNull<Control>, inherits: Inherits) {
        match self {
            Self::Worker(local) => {
                // SAFETY: the parent runs, so its control block is alive.
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

/// Passes the ambient values in this slot to a new fiber.
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

/// Makes a fiber and schedules it.
///
/// # Safety
///
/// The body and its result may be sent to all threads that `moves` lets the fiber run on, and live
/// until the fiber has ended. The site is the caller's.
#[inline]
pub(crate) unsafe fn spawn<F: Body<T>, T>(site: Site<'_>, attributes: Attributes, body: F) -> Spawned<F, T> {
    let (at_once, target) = (attributes.at_once, attributes.target);
    // SAFETY: the caller's promise.
    let (handle, control) = unsafe { make(site, attributes, body) }?;
    match site {
        // SAFETY: the right to run the new fiber is this function's.
        Site::Worker(local) if target == Target::Nearest => unsafe { start(local, control, at_once) },
        // SAFETY: as above.
        _ => unsafe { start_elsewhere(site, control, target) },
    }
    Ok(handle)
}

/// Makes a fiber. The caller gets the handle and the right to run the fiber.
///
/// # Safety
///
/// As for [`spawn`].
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
    // SAFETY: the memory was just taken.
    let control = unsafe { FiberCell::make(place, birth, attributes.scope, host, body) };
    // SAFETY: the right to run the fiber is still this function's.
    unsafe { site.hand_down(control, inherits) };
    // SAFETY: this is the other reference of a new fiber.
    Ok((unsafe { FiberHandle::new(control) }, control))
}

/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
#[inline]
unsafe fn start(local: &WorkerState, control: NonNull<Control>, at_once: bool) {
    // SAFETY: a running fiber is alive.
    let may_enter = |running: NonNull<Control>| local.may_enter(unsafe { running.as_ref() });
    // A fiber that unwinds, or is in a panic hook, lets no other fiber run on its thread.
    if at_once && !local.must_hold_worker() && local.fiber().is_some_and(may_enter) {
        // SAFETY: the caller's right.
        if unsafe { run::enter(local, control, By::Fiber) }.is_ok() {
            return;
        }
    }
    // SAFETY: the right to run includes a reference.
    let moves = unsafe { control.as_ref() }.birth.moves;
    // SAFETY: the caller's right, which was not used up.
    let task = unsafe { Control::task(control) };
    match moves {
        Moves::Never => local.context().core().push(task),
        // SAFETY: the task is the right to run the fiber, which includes a reference.
        Moves::UntilItRuns | Moves::Always => local.schedule(task, unsafe { control.as_ref() }.begins()),
    }
}

/// Schedules a new fiber in a group that was chosen for it, or from a thread that is not a worker.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
unsafe fn start_elsewhere(site: Site<'_>, control: NonNull<Control>, target: Target) {
    // SAFETY: the right to run includes a reference.
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

/// Returns the group that a new fiber never leaves, or [`NOWHERE`].
///
/// # Errors
///
/// Returns an error if the fiber is to begin in a group that does not exist.
#[inline]
fn group_to_stay_in(site: Site<'_>, target: Target, group_local: bool) -> Result<u32, Reason> {
    if target == Target::Nearest && !group_local {
        Ok(NOWHERE)
    } else {
        choose_group(site, target, group_local)
    }
}

// By value: attributes behind a reference would have to lie in memory, for every fiber.
#[cold]
fn choose_group(site: Site<'_>, target: Target, group_local: bool) -> Result<u32, Reason> {
    let groups = || site.host().schedule().groups();
    let group = match (target, site) {
        (Target::Group(group), _) if group as usize >= groups() => {
            return Err(Reason::NoGroup(group, groups()));
        }
        // The group where it begins is chosen when it starts.
        _ if !group_local => NOWHERE,
        (Target::Group(group), _) => group,
        (Target::Nearest, Site::Worker(local)) => local.context().group().unwrap_or(0) as u32,
        (Target::Nearest | Target::Any, _) => site.next_group() as u32,
    };
    Ok(group)
}
