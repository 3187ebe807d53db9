//! The blocks that plain threads wait in. They are used again and never freed, since whoever wakes a thread may touch its block a
//! moment later than that thread ends.

use std::sync::Mutex;

use super::thread_block::ThreadBlock;
use crate::rt::base::sync::ignore_poison;

static FREE: Mutex<Vec<&'static ThreadBlock>> = Mutex::new(Vec::new());

/// One that nobody uses.
pub(crate) fn take() -> &'static ThreadBlock {
    let free = ignore_poison(FREE.lock()).pop();
    free.unwrap_or_else(|| Box::leak(Box::new(ThreadBlock::new())))
}

/// Its thread ends.
pub(crate) fn give_back(block: &'static ThreadBlock) {
    ignore_poison(FREE.lock()).push(block);
}
