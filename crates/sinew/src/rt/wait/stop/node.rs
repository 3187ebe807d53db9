//! What is cancelled: a node of a tree, or of two trees that meet in it. Cancelling one cancels all below, and pokes those who have
//! enrolled. Knows neither what a node stands for nor how its members wait.
//!
//! A node keeps those above it, and is known to them for as long as it is there. Under a node's lock are why it was cancelled, those
//! below, and its members. Whoever cancels writes the first, and only then looks for the others, so:
//!
//! - a new node below either is found, or finds under the same lock that the one above is cancelled;
//! - a new member either is poked, or sees the flag, which is raised before the members are looked for;
//! - a member that has left is not poked, since it leaves under the lock, and pokes are under it too.
//!
//! No lock is taken while another one is held, nothing is dropped under one, and chains are followed in loops: they may be long.

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

/// So many are seen to before others have their turn at the lock.
const BATCH: usize = 64;

/// What was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The one with this number.
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

/// The node.
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

/// One above, and the number that it has this one under.
struct UpperLink {
    node: Arc<Node>,
    index: usize,
}

impl Node {
    /// One with none above it.
    pub(crate) fn root() -> Arc<Self> {
        Arc::new(Self::new(Vec::new()))
    }

    /// One with none above it that is cancelled.
    pub(crate) fn cancelled(why: Why) -> Arc<Self> {
        let node = Self::root();
        node.mark(&Arc::new(why));
        node
    }

    /// One below these: cancelled if one of them is.
    pub(crate) fn below(above: impl IntoIterator<Item = Arc<Self>>) -> Arc<Self> {
        let made = Arc::new_cyclic(|this: &Weak<Self>| {
            let link = |node: Arc<Self>| {
                let index = node.inner.lock().below.insert(this.clone());
                UpperLink { node, index }
            };
            Self::new(above.into_iter().map(link).collect())
        });
        // Whoever came for it before it was there has said under the lock that it would.
        if let Some(why) = made.above.iter().find_map(|link| link.node.why()) {
            made.cancel(&why);
        }
        made
    }

    fn new(above: Vec<UpperLink>) -> Self {
        let inner = NodeInner { why: None, below: Slots::new(), members: Slots::new() };
        Self { flag: StopFlag::new(), inner: Lock::new(inner), above }
    }

    /// Cancels it and all below. If it is cancelled, that stands, and whoever did so may not be done with those below.
    pub(crate) fn cancel(self: &Arc<Self>, why: &Arc<Why>) {
        let mut rest = vec![self.clone()];
        while let Some(node) = rest.pop() {
            if node.mark(why) {
                node.poke_all();
                node.add_below(&mut rest);
            }
        }
    }

    /// Says that it is cancelled. Whether nobody had.
    fn mark(&self, why: &Arc<Why>) -> bool {
        let is_first = {
            let mut inner = self.inner.lock();
            let is_first = inner.why.is_none();
            if is_first {
                inner.why = Some(why.clone());
            }
            is_first
        };
        // Also by whoever is second: that one is to see it too.
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

    /// Why, if it is cancelled.
    pub(crate) fn why(&self) -> Option<Arc<Why>> {
        self.inner.lock().why.clone()
    }

    /// Has somebody poked when this is cancelled, until what this returns is dropped.
    pub(crate) fn enrol(self: &Arc<Self>, member: Member) -> Enrolment {
        let index = self.inner.lock().members.insert(member);
        Enrolment { node: self.clone(), index }
    }

    /// The same, until [`retire`](Self::retire).
    pub(crate) fn enrol_for_good(&self, member: Member) {
        self.inner.lock().members.insert(member);
    }

    /// Nobody is to be poked any more.
    pub(crate) fn retire(&self) {
        let members = mem::replace(&mut self.inner.lock().members, Slots::new());
        drop(members);
    }

    /// Whether cancelling the other one is known to cancel this one. It may be so far above that this does not find out.
    pub(crate) fn is_below(&self, other: &Arc<Self>) -> bool {
        /// So many are looked at.
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

    /// How many are known below, and how many members there are.
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
            // Not by its own drop, which would call itself for each above.
            if let Some(mut last) = Arc::into_inner(node) {
                rest.append(&mut last.above);
            }
        }
    }
}

impl_debug!(Node, |node| { is_cancelled: node.is_cancelled(), .. });

/// Somebody is poked when a node is cancelled, for as long as this is there.
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
