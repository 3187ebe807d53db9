//! The pool of blocks that plain threads wait in. Blocks are reused and never freed, since a waker
//! may touch the block of a thread shortly after that thread has ended.

use std::sync::Mutex;

use super::thread_block::ThreadBlock;
use crate::rt::base::sync::ignore_poison;

static FREE: Mutex<Vec<&'static ThreadBlock>> = Mutex::new(Vec::new());

/// Takes a block that is not in use.
pub(crate) fn take() -> &'static ThreadBlock {
    let free = ignore_poison(FREE.lock()).pop();
    free.unwrap_or_else(|| Box::leak(Box::new(ThreadBlock::new())))
}

/// Returns the block of a thread that ends.
pub(crate) fn give_back(block: &'static ThreadBlock) {
    ignore_poison(FREE.lock()).push(block);
}
