//! The ambient values of the code that a fiber or a thread runs: its deadline, the node that
//! cancels it, and values that it may read. Knows no reader.
//!
//! Each region makes a new [`Ambient`] from the one around it, and restores that at its end. They
//! are counted, and not a stack: a user's coroutine may be suspended inside a region, and be
//! resumed when the regions around it are over, or in another fiber. So a region that ends changes
//! something only if it is in force where it ends, itself or through a region inside it.
//!
//! # Safety
//!
//! Trusted with the reference that a slot owns.
#![expect(unsafe_code, reason = "a counted value is a pointer in a word, so that an empty one costs nothing")]

use std::cell::Cell;
use std::mem;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::stop::{Enrolment, Member, Node};
use super::values::Values;
use crate::rt::base::unwind;

/// The moment at which waits time out, and the place in the code that set it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) by: &'static Location<'static>,
}

/// The values in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Force {
    pub(crate) deadline: Option<Deadline>,
    pub(crate) node: Option<Arc<Node>>,
    pub(crate) values: Values,
    /// The cancellation of the fiber itself does not count.
    pub(crate) is_shielded: bool,
}

impl Force {
    /// Sets the deadline to this one, unless the deadline in force is earlier.
    pub(crate) fn limit(&mut self, deadline: Deadline) {
        if self.deadline.is_none_or(|now| deadline.at < now.at) {
            self.deadline = Some(deadline);
        }
    }

    /// Adds a node: it cancels the code, and so does the node in force.
    pub(crate) fn join(&mut self, node: &Arc<Node>) {
        let joint = match self.node.take() {
            Some(now) if Arc::ptr_eq(&now, node) || now.is_below(node) => now,
            Some(now) if !node.is_below(&now) => Node::below([now, node.clone()]),
            _ => node.clone(),
        };
        self.node = Some(joint);
    }

    /// Removes the deadline and the node in force, and shields from the fiber's own node.
    pub(crate) fn shield(&mut self) {
        (self.deadline, self.node, self.is_shielded) = (None, None, true);
    }
}

/// Which deadlines a new fiber inherits.
#[derive(Clone, Copy)]
pub(crate) struct Inherits {
    /// The deadline of its parent.
    pub(crate) own: bool,
    /// The deadline of the scope that it is spawned in.
    pub(crate) of_scope: Option<Deadline>,
}

/// The values in force, and the region that put them in force.
#[derive(Debug)]
pub(crate) struct Ambient {
    pub(crate) force: Force,
    /// The enrolment of the fiber or thread with the node. Made at the first wait that the node may
    /// end.
    enrolment: OnceLock<Enrolment>,
    place: RegionPlace,
    /// The region was entered by a switch hook, and is over when that returns.
    in_switch_hook: bool,
}

/// How an [`Ambient`] came into force.
#[derive(Debug)]
enum RegionPlace {
    /// It was in force from the beginning.
    Base,
    /// In a region inside this one.
    Region(Option<Arc<Ambient>>),
}

/// An `Ambient` migrates with its fiber.
const _: fn() = || {
    fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<Ambient>();
};

impl Ambient {
    fn new(force: Force, place: RegionPlace, in_switch_hook: bool) -> Arc<Self> {
        Arc::new(Self { force, enrolment: OnceLock::new(), place, in_switch_hook })
    }

    /// Returns the ambient inside a region, where `outer` is in force around it.
    pub(super) fn inside(outer: Option<Arc<Self>>, force: Force, in_switch_hook: bool) -> Arc<Self> {
        Self::new(force, RegionPlace::Region(outer), in_switch_hook)
    }

    /// Returns the ambient of a new fiber whose parent has `this`: the parent's values, and the
    /// nearest of the deadlines that the fiber inherits.
    #[cold]
    pub(crate) fn for_child(this: Option<&Arc<Self>>, inherits: Inherits) -> Option<Arc<Self>> {
        let mut force = Force::default();
        let own = this.and_then(|this| this.force.deadline).filter(|_| inherits.own);
        own.into_iter().chain(inherits.of_scope).for_each(|deadline| force.limit(deadline));
        if let Some(this) = this {
            let at = |force: &Force| force.deadline.map(|deadline| deadline.at);
            if matches!(this.place, RegionPlace::Base) && at(&this.force) == at(&force) {
                // A base has nothing else.
                return Some(this.clone());
            }
            force.values = this.force.values.clone();
        }
        let is_needed = force.deadline.is_some() || !force.values.is_empty();
        is_needed.then(|| Self::new(force, RegionPlace::Base, false))
    }

    /// Enrols the running fiber or thread with the node, unless it is enrolled: cancelling the node
    /// then pokes it.
    pub(crate) fn enrol(&self, who: impl FnOnce() -> Member) {
        if let Some(node) = &self.force.node {
            self.enrolment.get_or_init(|| node.enrol(who()));
        }
    }

    fn outer(&self) -> Option<&Arc<Self>> {
        match &self.place {
            RegionPlace::Base => None,
            RegionPlace::Region(outer) => outer.as_ref(),
        }
    }
}

impl Drop for Ambient {
    fn drop(&mut self) {
        let mut rest = mem::replace(&mut self.place, RegionPlace::Base);
        // A loop, since drops of their own would call one another: coroutines can make chains of
        // any length.
        while let RegionPlace::Region(Some(outer)) = rest {
            let last = Arc::into_inner(outer);
            rest =
                last.map_or(RegionPlace::Base, |mut outer| mem::replace(&mut outer.place, RegionPlace::Base));
        }
    }
}

/// The slot of a fiber or a thread: one word, null while nothing is in force. A value that is left
/// in it is leaked, unless [`end`](Self::end) is called.
///
/// # Invariant
///
/// From [`Arc::into_raw`], with a reference that the slot owns.
#[derive(Debug)]
pub(crate) struct AmbientSlot(Cell<Option<NonNull<Ambient>>>);

impl AmbientSlot {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// Returns whether nothing is in force.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    #[inline]
    pub(super) fn take(&self) -> Option<Arc<Ambient>> {
        // SAFETY: the invariant. The reference belongs to the caller from here on.
        self.0.take().map(|ambient| unsafe { Arc::from_raw(ambient.as_ptr()) })
    }

    /// Fills an empty slot.
    #[inline]
    pub(crate) fn put(&self, ambient: Option<Arc<Ambient>>) {
        debug_assert!(self.is_empty(), "the previous value would be leaked");
        self.0.set(ambient.and_then(|ambient| NonNull::new(Arc::into_raw(ambient).cast_mut())));
    }

    /// Passes what is in force to `look`, which runs no code that reads this slot.
    #[inline]
    pub(crate) fn look<R>(&self, look: impl FnOnce(Option<&Arc<Ambient>>) -> R) -> R {
        if self.is_empty() {
            return look(None);
        }
        // Taken out meanwhile, so that code which reads the slot all the same finds nothing, rather
        // than a value that may be dropped.
        let now = self.take();
        let result = look(now.as_ref());
        self.put(now);
        result
    }

    /// Empties the slot at the end of a fiber. This may drop users' values.
    #[inline]
    pub(crate) fn end(&self) {
        if let Some(last) = self.take() {
            drop_it(last);
        }
    }

    /// Leaves all regions between two steps of a fiber. A coroutine may be suspended in one.
    #[inline]
    pub(crate) fn rest(&self) {
        self.rest_until(|now| matches!(now.place, RegionPlace::Base));
    }

    /// Leaves the regions that a switch hook has entered, when it returns. A coroutine may be
    /// suspended in one.
    #[inline]
    pub(crate) fn leave_switch(&self) {
        if !self.is_empty() {
            self.rest_until(|now| !now.in_switch_hook);
        }
    }

    /// Leaves regions until `is_last` holds for the one in force, or nothing is in force.
    fn rest_until(&self, is_last: impl Fn(&Ambient) -> bool) {
        while let Some(now) = self.take() {
            if is_last(&now) {
                return self.put(Some(now));
            }
            self.put(now.outer().cloned());
            drop_it(now);
        }
    }

    /// Ends a region. Returns what the caller is to drop.
    pub(super) fn leave(&self, region: &Arc<Ambient>) -> Option<Arc<Ambient>> {
        let now = self.take();
        let mut around = now.as_ref();
        while let Some(ambient) = around
            && !Arc::ptr_eq(ambient, region)
        {
            around = ambient.outer();
        }
        if around.is_none() {
            self.put(now);
            return None;
        }
        self.put(region.outer().cloned());
        now
    }
}

/// Drops an ambient with its users' values. The panic hook has reported the panic of a destructor,
/// and the panic ends here: the fiber that happens to hold the last reference is not to blame.
#[cold]
fn drop_it(ambient: Arc<Ambient>) {
    unwind::catch(|| drop(ambient));
}
