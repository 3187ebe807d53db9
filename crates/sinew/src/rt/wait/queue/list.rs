//! The list of a wait queue: nodes on the stacks of their owners, linked both ways, so that a node
//! can leave from the middle. Knows neither why the owners wait nor the lock that protects the
//! list.
//!
//! # Safety
//!
//! Trusted with pointers to nodes: a node in a list stays where it is until it is out of it.
#![expect(unsafe_code, reason = "nodes are linked by pointers")]

use std::cell::Cell;
use std::ptr::NonNull;

use super::super::waiter::Waiter;

/// The node of one waiter, with the data that it exchanges with its waker.
pub(crate) struct WaitNode<T> {
    links: Cell<NodeLinks<T>>,
    /// The waiter to wake. `None` if the node is in no list.
    waiter: Cell<Option<Waiter>>,
    /// Set by a waker that took the node out and found that the wait had already ended otherwise:
    /// the end of the list that the node was taken from. Accessed as `data` is.
    pub(crate) lost_at: Cell<Option<Place>>,
    /// The epoch in which the node was linked.
    epoch: Cell<Epoch>,
    /// Data for both sides. The waker accesses it while the node is in a list and the waker holds
    /// the lock of that list; the owner accesses it before and after.
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

    /// Replaces the waiter by that of a new wait. Returns false if the node is in no list. The
    /// caller holds the lock of the list.
    pub(crate) fn renew(&self, waiter: Waiter) -> bool {
        let is_linked = self.waiter.get().is_some();
        self.waiter.set(is_linked.then_some(waiter));
        is_linked
    }
}

/// A period in the life of a list. It separates nodes that are linked at its end from nodes that
/// are linked later, at either end of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u32);

impl Epoch {
    fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Returns whether this epoch is `last` or an earlier one. Correct if less than half of all
    /// numbers lie between them.
    fn is_until(self, last: Self) -> bool {
        last.0.wrapping_sub(self.0) <= u32::MAX / 2
    }
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind all other nodes.
    Back,
    /// Before all other nodes.
    Front,
}

/// A list of nodes.
pub(crate) struct NodeList<T> {
    /// # Invariant
    ///
    /// These pointers, and the links of the nodes, point to nodes that are in this list, and so are
    /// alive.
    first: Option<NonNull<WaitNode<T>>>,
    last: Option<NonNull<WaitNode<T>>>,
    len: u32,
    epoch: Epoch,
}

// SAFETY: only the thread that owns the list, or holds its lock, touches the nodes. The list passes
// from thread to thread together with the data in its nodes, which `T: Send` allows. A waiter is
// `Send`.
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

    /// Links a node that is in no list.
    ///
    /// # Safety
    ///
    /// The node stays where it is until it is out of the list. Meanwhile only the thread that has
    /// exclusive access to the list touches it.
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

    /// Takes a node out. Returns `None` if it was in no list.
    ///
    /// # Safety
    ///
    /// If the node is in a list, it is this one.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, node: &WaitNode<T>) -> Option<Waiter> {
        let waiter = node.waiter.take()?;
        let NodeLinks { before, after } = node.links.replace(NodeLinks::NONE);
        self.set_after(before, after);
        self.set_before(after, before);
        self.len -= 1;
        Some(waiter)
    }

    /// Takes the first node out. Returns `None` if the list is empty.
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

    /// Takes out a node that was found in this list.
    ///
    /// # Safety
    ///
    /// The node is in this list.
    pub(crate) unsafe fn remove_found(
        &mut self,
        node: NonNull<WaitNode<T>>,
    ) -> Option<(NonNull<WaitNode<T>>, Waiter)> {
        // SAFETY: a node in the list is alive.
        let there = unsafe { node.as_ref() };
        // SAFETY: the caller's promise.
        let waiter = unsafe { self.remove(there) }?;
        Some((node, waiter))
    }

    /// Takes the last node out. Returns `None` if the list is empty.
    pub(crate) fn remove_last(&mut self) -> Option<(NonNull<WaitNode<T>>, Waiter)> {
        let last = self.last?;
        // SAFETY: the invariant of `first`.
        unsafe { self.remove_found(last) }
    }

    /// Returns the first node, whose waiter has waited longest.
    #[inline]
    pub(crate) fn first(&self) -> Option<&WaitNode<T>> {
        // SAFETY: the invariant of `first`.
        self.first.map(|first| unsafe { first.as_ref() })
    }

    /// Ends the present epoch, and returns it.
    #[inline]
    pub(crate) fn end_epoch(&mut self) -> Epoch {
        let ended = self.epoch;
        self.epoch = ended.next();
        ended
    }

    /// Returns the first node that was linked in this epoch or before.
    #[inline]
    pub(crate) fn first_until(&self, last: Epoch) -> Option<NonNull<WaitNode<T>>> {
        self.nodes().find(|node| node.epoch.get().is_until(last)).map(NonNull::from)
    }

    /// Returns the first node whose waiter satisfies the condition, among the first `most` nodes.
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
            // SAFETY: the invariant of `first`, which covers links.
            node.links.get().after.map(|after| unsafe { after.as_ref() })
        })
    }

    /// Returns the first node whose data satisfies the condition.
    #[inline]
    pub(crate) fn find(&self, is_such: impl Fn(&T) -> bool) -> Option<&WaitNode<T>> {
        self.nodes().find(|node| is_such(&node.data))
    }

    #[inline]
    fn set_after(&mut self, node: Option<NonNull<WaitNode<T>>>, after: Option<NonNull<WaitNode<T>>>) {
        match node {
            Some(node) => {
                // SAFETY: the invariant of `first`, which covers links.
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
                // SAFETY: the invariant of `first`, which covers links.
                let links = unsafe { &node.as_ref().links };
                links.set(NodeLinks { before, ..links.get() });
            }
            None => self.last = before,
        }
    }
}
