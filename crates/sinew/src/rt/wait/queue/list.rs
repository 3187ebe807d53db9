//! The list of a wait queue: nodes on the stacks of those who wait, linked both ways, so that one may leave from the middle. Knows
//! neither why they wait nor the lock that it is under.
//!
//! # Safety
//!
//! Trusted with pointers to nodes: one in a list stays where it is until it is out of it.
#![expect(unsafe_code, reason = "nodes are linked by pointers")]

use std::cell::Cell;
use std::ptr::NonNull;

use super::super::waiter::Waiter;

/// One who waits, and what it tells whoever wakes it.
pub(crate) struct WaitNode<T> {
    links: Cell<NodeLinks<T>>,
    /// Whom to wake; none, if the node is in no list.
    waiter: Cell<Option<Waiter>>,
    /// Set by a waker that took it out of its list and found the wait ended by another: where it
    /// took it out. As `data`.
    pub(crate) lost_at: Cell<Option<Place>>,
    /// When it was put into its list.
    epoch: Cell<Epoch>,
    /// For both sides: the waker, while the node is in a list and it holds the lock of that; the owner, before and after.
    pub(crate) data: T,
}

struct NodeLinks<T> {
    before: Option<NonNull<WaitNode<T>>>,
    after: Option<NonNull<WaitNode<T>>>,
}

impl<T> Clone for NodeLinks<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for NodeLinks<T> {}

impl<T> NodeLinks<T> {
    const NONE: Self = Self { before: None, after: None };
}

impl<T> WaitNode<T> {
    #[inline]
    pub(crate) fn new(data: T) -> Self {
        Self {
            links: Cell::new(NodeLinks::NONE),
            waiter: Cell::new(None),
            lost_at: Cell::new(None),
            epoch: Cell::new(Epoch(0)),
            data,
        }
    }

    /// The wait is another one from now on. False, if it is in no list. For whoever has the list.
    pub(crate) fn renew(&self, waiter: Waiter) -> bool {
        let is_linked = self.waiter.get().is_some();
        self.waiter.set(is_linked.then_some(waiter));
        is_linked
    }
}

/// A stretch of time of a list: those who are in it at its end are told from those who come later, wherever they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u32);

impl Epoch {
    fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether it is this one or was before it, if less than half of all lie between them.
    fn is_until(self, last: Self) -> bool {
        last.0.wrapping_sub(self.0) <= u32::MAX / 2
    }
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind all others.
    Back,
    /// Before them.
    Front,
}

/// The list.
pub(crate) struct NodeList<T> {
    /// # Invariant
    ///
    /// These and the links of their nodes are pointers to nodes that are in this list, and so are there.
    first: Option<NonNull<WaitNode<T>>>,
    last: Option<NonNull<WaitNode<T>>>,
    len: u32,
    epoch: Epoch,
}

// SAFETY: nodes are touched by whoever has the list, which passes them from one thread to the next with what is in them; a waiter
// may be sent.
unsafe impl<T: Send> Send for NodeList<T> {}

impl<T> NodeList<T> {
    pub(crate) const fn new() -> Self {
        Self { first: None, last: None, len: 0, epoch: Epoch(0) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Puts a node into it, which is in none.
    ///
    /// # Safety
    ///
    /// The node stays where it is until it is out of the list, and nobody touches it meanwhile but who has the list.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, place: Place, node: &WaitNode<T>, waiter: Waiter) {
        node.waiter.set(Some(waiter));
        node.epoch.set(self.epoch);
        let this = Some(NonNull::from(node));
        let (before, after) = match place {
            Place::Back => (self.last, None),
            Place::Front => (None, self.first),
        };
        node.links.set(NodeLinks { before, after });
        self.set_after(before, this);
        self.set_before(after, this);
        self.len += 1;
    }

    /// Takes a node out. False, if it was in none.
    ///
    /// # Safety
    ///
    /// If it is in a list, it is this one.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, node: &WaitNode<T>) -> Option<Waiter> {
        let waiter = node.waiter.take()?;
        let NodeLinks { before, after } = node.links.replace(NodeLinks::NONE);
        self.set_after(before, after);
        self.set_before(after, before);
        self.len -= 1;
        Some(waiter)
    }

    /// Takes the first node out. None, if there is none.
    #[inline]
    pub(crate) fn remove_first(&mut self) -> Option<(NonNull<WaitNode<T>>, Waiter)> {
        let first = self.first?;
        // SAFETY: the invariant of `first`.
        let node = unsafe { first.as_ref() };
        let waiter = node.waiter.take()?;
        let after = node.links.get().after;
        self.first = after;
        self.set_before(after, None);
        self.len -= 1;
        Some((first, waiter))
    }

    /// Takes a node out that was found here.
    ///
    /// # Safety
    ///
    /// It is in this list.
    pub(crate) unsafe fn remove_found(
        &mut self,
        node: NonNull<WaitNode<T>>,
    ) -> Option<(NonNull<WaitNode<T>>, Waiter)> {
        // SAFETY: a node in the list is there.
        let there = unsafe { node.as_ref() };
        // SAFETY: the caller's promise.
        let waiter = unsafe { self.remove(there) }?;
        Some((node, waiter))
    }

    /// Takes the last node out. None, if there is none.
    pub(crate) fn remove_last(&mut self) -> Option<(NonNull<WaitNode<T>>, Waiter)> {
        let last = self.last?;
        // SAFETY: the invariant of `first`.
        unsafe { self.remove_found(last) }
    }

    /// The node that has waited longest.
    #[inline]
    pub(crate) fn first(&self) -> Option<&WaitNode<T>> {
        // SAFETY: the invariant of `first`.
        self.first.map(|first| unsafe { first.as_ref() })
    }

    /// Ends the epoch of now.
    #[inline]
    pub(crate) fn end_epoch(&mut self) -> Epoch {
        let ended = self.epoch;
        self.epoch = ended.next();
        ended
    }

    /// The first node that was put in until the end of an epoch.
    #[inline]
    pub(crate) fn first_until(&self, last: Epoch) -> Option<NonNull<WaitNode<T>>> {
        self.nodes().find(|node| node.epoch.get().is_until(last)).map(NonNull::from)
    }

    /// The first node whose waiter is such, if it is among the first so many.
    pub(crate) fn first_of(
        &self,
        most: usize,
        is_such: impl Fn(Waiter) -> bool,
    ) -> Option<NonNull<WaitNode<T>>> {
        let mut first = self.nodes().take(most);
        first.find(|node| node.waiter.get().is_some_and(&is_such)).map(NonNull::from)
    }

    #[inline]
    fn nodes(&self) -> impl Iterator<Item = &WaitNode<T>> {
        std::iter::successors(self.first(), |node| {
            // SAFETY: the invariant of `first`, of links.
            node.links.get().after.map(|after| unsafe { after.as_ref() })
        })
    }

    /// The first node whose data is such.
    #[inline]
    pub(crate) fn find(&self, is_such: impl Fn(&T) -> bool) -> Option<&WaitNode<T>> {
        self.nodes().find(|node| is_such(&node.data))
    }

    #[inline]
    fn set_after(&mut self, node: Option<NonNull<WaitNode<T>>>, after: Option<NonNull<WaitNode<T>>>) {
        match node {
            Some(node) => {
                // SAFETY: the invariant of `first`, of links.
                let links = unsafe { &node.as_ref().links };
                links.set(NodeLinks { after, ..links.get() });
            }
            None => self.first = after,
        }
    }

    #[inline]
    fn set_before(&mut self, node: Option<NonNull<WaitNode<T>>>, before: Option<NonNull<WaitNode<T>>>) {
        match node {
            Some(node) => {
                // SAFETY: the invariant of `first`, of links.
                let links = unsafe { &node.as_ref().links };
                links.set(NodeLinks { before, ..links.get() });
            }
            None => self.last = before,
        }
    }
}
