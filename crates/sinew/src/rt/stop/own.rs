//! What a fiber is cancelled through: a node of its own, made when somebody first needs it. Knows no wait.
//!
//! That of a fiber in a scope is below the scope's, and that below the one of the fiber that opened the scope: so cancelling a fiber
//! cancels those of its scopes. Only such a node has the fiber as a member, from when it is made until the fiber ends; it is made by
//! the fiber itself, or by one in a scope that it waits for. A fiber in no scope is cancelled by its handle alone, which pokes it.

use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use super::super::control::Status;
use super::super::reference::Fiber;
use super::flag;
use super::member::{Member, Poke};
use super::node::{Node, Why};

/// Where a fiber has its node: empty until somebody needs it. What is there is leaked, unless it is ended.
#[derive(Debug)]
pub(crate) struct Own(ManuallyDrop<OnceLock<Arc<Node>>>);

impl Own {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(ManuallyDrop::new(OnceLock::new()))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Node>> {
        self.0.get()
    }

    fn get_or_init(&self, make: impl FnOnce() -> Arc<Node>) -> &Arc<Node> {
        self.0.get_or_init(make)
    }

    /// The fiber's block is about to be freed. Apart from the rest of it: most fibers have none.
    #[inline]
    pub(crate) fn end(&mut self) {
        #[cold]
        fn drop_it(node: Option<Arc<Node>>) {
            drop(node);
        }
        if self.get().is_some() {
            drop_it(self.0.take());
        }
    }
}

/// The node of a fiber, and those above it. None, of a thread or a fiber that has ended.
pub(crate) fn of(fiber: &Fiber) -> Option<Arc<Node>> {
    let mut path = vec![fiber.clone()];
    // Not by calls inside one another: scopes may be nested deeper than a stack is.
    while let Some(next) = path.last().and_then(above) {
        path.push(next);
    }
    let mut made = None;
    while let Some(fiber) = path.pop() {
        made = make(&fiber);
    }
    made
}

/// Who opened the scope that a fiber is in, if that matters: neither the fiber has its node yet nor the scope.
fn above(fiber: &Fiber) -> Option<Fiber> {
    let block = fiber.block().filter(|block| block.own.get().is_none())?;
    block.birth.scope.as_ref().filter(|scope| !scope.has_node())?.opener()
}

fn make(fiber: &Fiber) -> Option<Arc<Node>> {
    let block = fiber.block()?;
    if let Some(own) = block.own.get() {
        return Some(own.clone());
    }
    if fiber.status() == Some(Status::Done) {
        // Nobody would take it out of its node again.
        return None;
    }
    let node = match &block.birth.scope {
        None => Node::root(),
        Some(scope) => {
            let node = Node::below([scope.node()]);
            node.enrol_for_good(Member::new(fiber.clone()));
            node
        }
    };
    Some(block.own.get_or_init(|| node).clone())
}

/// Cancels a fiber. If it has ended, this does nothing.
pub(crate) fn cancel(fiber: &Fiber, why: Why) {
    let Some(block) = fiber.block().filter(|_| fiber.status() != Some(Status::Done)) else { return };
    let mut why = Some(why);
    // One that is cancelled from the start need not be below any other.
    let own = block.own.get_or_init(|| Node::cancelled(why.take().expect("it is made once")));
    if let Some(why) = why {
        own.cancel(&Arc::new(why));
    }
    // The fiber may have seen that it has no node: as with a raised flag, either it sees this one or the poke finds its wait.
    flag::meet();
    fiber.poke();
}
