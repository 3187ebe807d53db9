//! Cancels fibers: the tree of nodes through which the fibers of scopes are cancelled.
//!
//! The node of a fiber in a scope is below the scope's node, which is below the node of the fiber
//! that opened the scope. So cancelling a fiber cancels the fibers of its scopes. Only a node below
//! a scope's has the fiber as a member, from when it is made until the fiber ends. It is made by
//! the fiber itself, or by a fiber in a scope that it waits for. A fiber in no scope is cancelled
//! only by its handle, which pokes it.
//!
//! # Safety
//!
//! Trusted with the blocks of fibers to which it holds references.
#![expect(unsafe_code, reason = "fibers are pointers")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::block::FiberBlock;
use crate::rt::wait::{Control, FiberRef, Member, Node, Poke, Status, Why, stop};

/// Gives a fiber its node, unless it has one or has ended.
///
/// # Safety
///
/// The fiber's block is alive.
pub(super) unsafe fn make_node(control: NonNull<Control>) {
    // SAFETY: the caller's promise.
    let fiber = unsafe { FiberRef::new(control) };
    let mut path = vec![fiber];
    // A loop instead of recursion: scopes may be nested deeper than a stack allows.
    while let Some(next) = path.last().and_then(above) {
        path.push(next);
    }
    while let Some(fiber) = path.pop() {
        make(&fiber);
    }
}

/// Returns the fiber that opened the scope of this fiber, if it needs a node first: neither this
/// fiber nor the scope has a node yet.
fn above(fiber: &FiberRef) -> Option<FiberRef> {
    let block = block(fiber)?;
    if block.own.get().is_some() {
        return None;
    }
    block.scope.as_ref().filter(|scope| !scope.has_node())?.opener()
}

fn make(fiber: &FiberRef) {
    let Some(block) = block(fiber).filter(|block| block.own.get().is_none()) else { return };
    // A fiber that has ended would never leave its node again.
    if fiber.status() == Some(Status::Done) {
        return;
    }
    let node = match &block.scope {
        None => Node::root(),
        Some(scope) => {
            let node = Node::below([scope.node()]);
            node.enrol_for_good(Member::new(fiber.clone()));
            node
        }
    };
    block.own.get_or_init(|| node);
}

/// Cancels a fiber. Does nothing if it has ended.
pub(crate) fn cancel_fiber(fiber: &FiberRef, why: Why) {
    let Some(control) = fiber.control().filter(|_| fiber.status() != Some(Status::Done)) else { return };
    let mut why = Some(why);
    // A node that is cancelled from the start need not be below any other.
    let own = control.own.get_or_init(|| Node::cancelled(why.take().expect("it is made once")));
    if let Some(why) = why {
        own.cancel(&Arc::new(why));
    }
    // The fiber may have seen that it has no node. As with a raised flag, it either sees this node,
    // or the poke finds its wait.
    stop::meet();
    fiber.poke();
}

/// Returns the block of a fiber, or `None` for a thread.
fn block(fiber: &FiberRef) -> Option<&FiberBlock> {
    // SAFETY: a reference to a fiber keeps its block alive.
    fiber.address().map(|control| unsafe { FiberBlock::of(control) })
}
