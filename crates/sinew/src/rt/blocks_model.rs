//! The twin of the blocks that plain threads wait in, for the checker, whose threads are none to std.

use super::waiter::ThreadBlock;

loom::thread_local! {
    static BLOCK: &'static ThreadBlock = Box::leak(Box::new(ThreadBlock::new()));
}

/// That of the calling thread.
pub(crate) fn of_model() -> Option<&'static ThreadBlock> {
    Some(BLOCK.with(|block| *block))
}

pub(crate) fn take() -> &'static ThreadBlock {
    Box::leak(Box::new(ThreadBlock::new()))
}

pub(crate) fn give_back(_: &'static ThreadBlock) {}
