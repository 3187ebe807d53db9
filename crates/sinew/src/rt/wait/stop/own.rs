//! The node through which a fiber is cancelled: made when it is first needed. Knows no fiber.

use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use super::node::Node;

/// The slot for a fiber's node: empty until it is needed. The node is leaked unless
/// [`end`](Self::end) is called.
#[derive(Debug)]
pub(crate) struct OwnNode(ManuallyDrop<OnceLock<Arc<Node>>>);

impl OwnNode {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(ManuallyDrop::new(OnceLock::new()))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Node>> {
        self.0.get()
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> Arc<Node>) -> &Arc<Node> {
        self.0.get_or_init(make)
    }

    /// Drops the node before the fiber's block is freed. The drop is split off, since most fibers
    /// have no node.
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
