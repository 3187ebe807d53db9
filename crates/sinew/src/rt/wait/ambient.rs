//! What is in force for the code that a fiber or a thread runs: until when, what cancels it, and values that it may ask for. Knows
//! nobody who asks.
//!
//! Each region makes a new one out of the one around it, and puts that back at its end. They are counted, and not on a stack: a
//! coroutine of the user's may be suspended inside a region, and come back when the regions around it are over, or in another fiber.
//! So a region that ends changes something only if it is in force where it ends, by itself or through those inside it.
//!
//! # Safety
//!
//! Trusted with the reference that a slot has.
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

/// A moment after which there is no point in going on, and who said so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) by: &'static Location<'static>,
}

/// What is in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Force {
    pub(crate) deadline: Option<Deadline>,
    pub(crate) node: Option<Arc<Node>>,
    pub(crate) values: Values,
    /// What the fiber itself is cancelled through does not count.
    pub(crate) is_shielded: bool,
}

impl Force {
    /// The nearer of this moment and the deadline in force is the deadline.
    pub(crate) fn limit(&mut self, deadline: Deadline) {
        if self.deadline.is_none_or(|now| deadline.at < now.at) {
            self.deadline = Some(deadline);
        }
    }

    /// The node counts, and so does the one in force.
    pub(crate) fn join(&mut self, node: &Arc<Node>) {
        let joint = match self.node.take() {
            Some(now) if Arc::ptr_eq(&now, node) || now.is_below(node) => now,
            Some(now) if !node.is_below(&now) => Node::below([now, node.clone()]),
            _ => node.clone(),
        };
        self.node = Some(joint);
    }

    /// Neither what is around nor the fiber's own node counts.
    pub(crate) fn shield(&mut self) {
        (self.deadline, self.node, self.is_shielded) = (None, None, true);
    }
}

/// Which deadlines a new fiber inherits.
#[derive(Clone, Copy)]
pub(crate) struct Inherits {
    /// That of its maker.
    pub(crate) own: bool,
    /// That of the scope that it is made in.
    pub(crate) of_scope: Option<Deadline>,
}

/// What is in force, and since when.
#[derive(Debug)]
pub(crate) struct Ambient {
    pub(crate) force: Force,
    /// Whoever runs here, with the node; from its first wait on that the node may end.
    enrolment: OnceLock<Enrolment>,
    place: RegionPlace,
    /// It was entered by a function that is called at a switch, and is over when that returns.
    in_switch_hook: bool,
}

/// How it came to be in force.
#[derive(Debug)]
enum RegionPlace {
    /// From the beginning.
    Base,
    /// In a region inside this.
    Region(Option<Arc<Ambient>>),
}

/// It goes wherever its fiber goes.
const _: fn() = || {
    fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<Ambient>();
};

impl Ambient {
    fn new(force: Force, place: RegionPlace, in_switch_hook: bool) -> Arc<Self> {
        Arc::new(Self { force, enrolment: OnceLock::new(), place, in_switch_hook })
    }

    /// What is in force inside a region, where `outer` is in force around it.
    pub(super) fn inside(outer: Option<Arc<Self>>, force: Force, in_switch_hook: bool) -> Arc<Self> {
        Self::new(force, RegionPlace::Region(outer), in_switch_hook)
    }

    /// What is in force for a new fiber whose maker has `this`: the maker's values, and the nearest
    /// of the deadlines that it inherits.
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

    /// Has whoever runs here poked by the node, from now on.
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
        // Not by their own drops, which would call one another: coroutines can make chains of any length.
        while let RegionPlace::Region(Some(outer)) = rest {
            let last = Arc::into_inner(outer);
            rest =
                last.map_or(RegionPlace::Base, |mut outer| mem::replace(&mut outer.place, RegionPlace::Base));
        }
    }
}

/// Where a fiber or a thread has it: one word, null while there is nothing. What is left there is leaked, unless it is ended.
///
/// # Invariant
///
/// From [`Arc::into_raw`], with a reference of the slot's own.
#[derive(Debug)]
pub(crate) struct AmbientSlot(Cell<Option<NonNull<Ambient>>>);

impl AmbientSlot {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// Whether nothing is in force.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    #[inline]
    pub(super) fn take(&self) -> Option<Arc<Ambient>> {
        // SAFETY: the invariant; the reference is the caller's from here on.
        self.0.take().map(|ambient| unsafe { Arc::from_raw(ambient.as_ptr()) })
    }

    /// For a slot that is empty.
    #[inline]
    pub(crate) fn put(&self, ambient: Option<Arc<Ambient>>) {
        debug_assert!(self.is_empty(), "what is there would be leaked");
        self.0.set(ambient.and_then(|ambient| NonNull::new(Arc::into_raw(ambient).cast_mut())));
    }

    /// Shows what is in force to `look`, which calls nobody who asks for it.
    #[inline]
    pub(crate) fn look<R>(&self, look: impl FnOnce(Option<&Arc<Ambient>>) -> R) -> R {
        if self.is_empty() {
            return look(None);
        }
        // Taken out meanwhile, so that whoever asks all the same finds nothing, and not what may go.
        let now = self.take();
        let result = look(now.as_ref());
        self.put(now);
        result
    }

    /// At the end of a fiber: nothing is in force. Values of the user's may be dropped by this.
    #[inline]
    pub(crate) fn end(&self) {
        if let Some(last) = self.take() {
            drop_it(last);
        }
    }

    /// Between two steps of a fiber: no region is in force, though a coroutine may be suspended in one.
    #[inline]
    pub(crate) fn rest(&self) {
        self.rest_until(|now| matches!(now.place, RegionPlace::Base));
    }

    /// At the end of a function that is called at a switch: no region that it has entered is in
    /// force, though a coroutine may be suspended in one.
    #[inline]
    pub(crate) fn leave_switch(&self) {
        if !self.is_empty() {
            self.rest_until(|now| !now.in_switch_hook);
        }
    }

    /// Leaves regions until one is in force of which `is_last` holds, or nothing.
    fn rest_until(&self, is_last: impl Fn(&Ambient) -> bool) {
        while let Some(now) = self.take() {
            if is_last(&now) {
                return self.put(Some(now));
            }
            self.put(now.outer().cloned());
            drop_it(now);
        }
    }

    /// A region is over. Returns what is to be dropped.
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

/// The values in it are the user's. Of a panic in a destructor the hook has told, and it ends here: whoever happens to be the last
/// that has a value is not to blame.
#[cold]
fn drop_it(ambient: Arc<Ambient>) {
    unwind::catch(|| drop(ambient));
}
