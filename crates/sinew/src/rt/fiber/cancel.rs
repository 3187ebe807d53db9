//! Cancels fibers: the tree of nodes that those of scopes are cancelled through.
//!
//! The node of a fiber in a scope is below the scope's node, and that is below the node of the
//! fiber that opened the scope. So cancelling a fiber cancels those of its scopes. Only such a node
//! has the fiber as a member, from when it is made until the fiber ends; it is made by the fiber
//! itself, or by one in a scope that it waits for. A fiber in no scope is cancelled by its handle
//! alone, which pokes it.
//!
//! # Safety
//!
//! Trusted with the blocks of fibers that it has references to.
#![expect(unsafe_code, reason = "fibers are pointers")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::block::FiberBlock;
use crate::rt::wait::{Control, FiberRef, Member, Node, Poke, Status, Why, stop};

/// Gives a fiber its node, unless it has one, or has ended.
///
/// # Safety
///
/// The fiber's block is there.
pub(super) unsafe fn make_node(control: NonNull<Control>) {
    // SAFETY: the caller's promise.
    let fiber = unsafe { FiberRef::new(control) };
    let mut path = vec![fiber];
    // Not by calls inside one another: scopes may be nested deeper than a stack is.
    while let Some(next) = path.last().and_then(above) {
        path.push(next);
    }
    while let Some(fiber) = path.pop() {
        make(&fiber);
    }
}

/// The fiber that opened the scope that this one is in, if it needs a node first: neither this
/// fiber has its node yet nor the scope.
fn above(fiber: &FiberRef) -> Option<FiberRef> {
    let block = block(fiber)?;
    if block.own.get().is_some() {
        return None;
    }
    block.scope.as_ref().filter(|scope| !scope.has_node())?.opener()
}

fn make(fiber: &FiberRef) {
    let Some(block) = block(fiber).filter(|block| block.own.get().is_none()) else { return };
    // Nobody would take a fiber out of its node again that has ended.
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
    // One that is cancelled from the start need not be below any other.
    let own = control.own.get_or_init(|| Node::cancelled(why.take().expect("it is made once")));
    if let Some(why) = why {
        own.cancel(&Arc::new(why));
    }
    // The fiber may have seen that it has no node: as with a raised flag, either it sees this one
    // or the poke finds its wait.
    stop::meet();
    fiber.poke();
}

/// The block of a fiber. None, of a thread.
fn block(fiber: &FiberRef) -> Option<&FiberBlock> {
    // SAFETY: a reference to a fiber keeps its block.
    fiber.address().map(|control| unsafe { FiberBlock::of(control) })
}
