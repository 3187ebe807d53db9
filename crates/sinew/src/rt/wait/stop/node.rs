//! What is cancelled: a node of a tree, or of two trees that meet in it. Cancelling a node cancels
//! all nodes below it, and pokes their members. Knows neither what a node stands for nor how its
//! members wait.
//!
//! A node keeps the nodes above it alive, and is known to them while it lives. The lock of a node
//! protects the reason why it was cancelled, the list of nodes below, and its members. A canceller
//! writes the reason first, and only then looks for the others. So:
//!
//! - a new node below is found, or finds under the same lock that the node above is cancelled;
//! - a new member is poked, or sees the flag, which is raised before the canceller looks for
//!   members;
//! - a member that has left is not poked, since it leaves under the lock, and pokes happen under it
//!   too.
//!
//! No lock is acquired while another one is held, nothing is dropped under one, and chains are
//! followed in loops, since they may be long.

use std::borrow::Cow;
use std::mem;
use std::num::NonZero;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::flag::StopFlag;
use super::member::Member;
use super::slots::Slots;
use crate::rt::base::impl_debug;
use crate::rt::base::sync::Lock;

/// How many entries a canceller handles before it releases the lock for others.
const BATCH: usize = 64;

/// What was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The fiber with this number.
    Fiber(NonZero<u64>),
    Scope,
    Token,
}

/// Why something is cancelled.
#[derive(Debug)]
pub(crate) struct Why {
    pub(crate) what: What,
    pub(crate) by: &'static Location<'static>,
    pub(crate) reason: Option<Cow<'static, str>>,
}

/// A node.
pub(crate) struct Node {
    flag: StopFlag,
    inner: Lock<NodeInner>,
    above: Vec<UpperLink>,
}

struct NodeInner {
    why: Option<Arc<Why>>,
    below: Slots<Weak<Node>>,
    members: Slots<Member>,
}

/// A node above, and the number under which it lists this node.
struct UpperLink {
    node: Arc<Node>,
    index: usize,
}

impl Node {
    /// Returns a node with none above it.
    pub(crate) fn root() -> Arc<Self> {
        Arc::new(Self::new(Vec::new()))
    }

    /// Returns a cancelled node with none above it.
    pub(crate) fn cancelled(why: Why) -> Arc<Self> {
        let node = Self::root();
        node.mark(&Arc::new(why));
        node
    }

    /// Returns a node below these. It is cancelled if one of them is.
    pub(crate) fn below(above: impl IntoIterator<Item = Arc<Self>>) -> Arc<Self> {
        let made = Arc::new_cyclic(|this: &Weak<Self>| {
            let link = |node: Arc<Self>| {
                let index = node.inner.lock().below.insert(this.clone());
                UpperLink { node, index }
            };
            Self::new(above.into_iter().map(link).collect())
        });
        // A canceller that came before the new node could be upgraded has already written, under
        // the lock, why it cancels.
        if let Some(why) = made.above.iter().find_map(|link| link.node.why()) {
            made.cancel(&why);
        }
        made
    }

    fn new(above: Vec<UpperLink>) -> Self {
        let inner = NodeInner { why: None, below: Slots::new(), members: Slots::new() };
        Self { flag: StopFlag::new(), inner: Lock::new(inner), above }
    }

    /// Cancels this node and all nodes below. If it is cancelled already, that stands, and the
    /// first canceller may not have reached all nodes below yet.
    pub(crate) fn cancel(self: &Arc<Self>, why: &Arc<Why>) {
        let mut rest = vec![self.clone()];
        while let Some(node) = rest.pop() {
            if node.mark(why) {
                node.poke_all();
                node.add_below(&mut rest);
            }
        }
    }

    /// Marks this node as cancelled. Returns whether it was not cancelled before.
    fn mark(&self, why: &Arc<Why>) -> bool {
        let is_first = {
            let mut inner = self.inner.lock();
            let is_first = inner.why.is_none();
            if is_first {
                inner.why = Some(why.clone());
            }
            is_first
        };
        // A second canceller raises it too, so that it sees the flag as well.
        self.flag.raise();
        is_first
    }

    pub(super) fn poke_all(&self) {
        let mut from = 0;
        while let Some((members, next)) = self.inner.lock().members.part(from, BATCH) {
            members.for_each(Member::poke);
            from = next;
        }
    }

    fn add_below(&self, rest: &mut Vec<Arc<Self>>) {
        let mut from = 0;
        while let Some((below, next)) = self.inner.lock().below.part(from, BATCH) {
            rest.extend(below.filter_map(Weak::upgrade));
            from = next;
        }
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.flag.is_raised()
    }

    /// Returns why the node was cancelled, if it was.
    pub(crate) fn why(&self) -> Option<Arc<Why>> {
        self.inner.lock().why.clone()
    }

    /// Enrols a member, which a cancel of this node pokes, until the returned value is dropped.
    pub(crate) fn enrol(self: &Arc<Self>, member: Member) -> Enrolment {
        let index = self.inner.lock().members.insert(member);
        Enrolment { node: self.clone(), index }
    }

    /// Enrols a member until [`retire`](Self::retire) is called.
    pub(crate) fn enrol_for_good(&self, member: Member) {
        self.inner.lock().members.insert(member);
    }

    /// Removes all members.
    pub(crate) fn retire(&self) {
        let members = mem::replace(&mut self.inner.lock().members, Slots::new());
        drop(members);
    }

    /// Returns whether cancelling the other node is known to cancel this one. May return false if
    /// the other node is far above.
    pub(crate) fn is_below(&self, other: &Arc<Self>) -> bool {
        /// How many nodes are examined.
        const MOST: usize = 64;
        let mut rest: Vec<_> = self.above.iter().collect();
        for _ in 0..MOST {
            let Some(link) = rest.pop() else { return false };
            if Arc::ptr_eq(&link.node, other) {
                return true;
            }
            rest.extend(&link.node.above);
        }
        false
    }

    /// Returns how many nodes are known below, and how many members there are.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        (inner.below.len(), inner.members.len())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut rest = mem::take(&mut self.above);
        while let Some(UpperLink { node, index }) = rest.pop() {
            let gone = node.inner.lock().below.remove(index);
            drop(gone);
            // In this loop, since its own drop would recurse for each node above.
            if let Some(mut last) = Arc::into_inner(node) {
                rest.append(&mut last.above);
            }
        }
    }
}

impl_debug!(Node, |node| { is_cancelled: node.is_cancelled(), .. });

/// The membership of a node. Its member is poked when the node is cancelled, until this is dropped.
#[derive(Debug)]
pub(crate) struct Enrolment {
    node: Arc<Node>,
    index: usize,
}

impl Drop for Enrolment {
    fn drop(&mut self) {
        let member = self.node.inner.lock().members.remove(self.index);
        drop(member);
    }
}
