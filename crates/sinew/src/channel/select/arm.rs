//! An operation of a select.

use std::marker::PhantomData;

use super::port::Port;

/// Makes `Select` neither `Send` nor `Sync`. The compiler names this trait in its error message.
trait SelectStaysOnItsThread: Unpin {}

#[derive(Clone, Copy)]
pub(super) struct Arm<'a> {
    /// The first field, since the compiler reports the first field that is not `Send`.
    stays: PhantomData<dyn SelectStaysOnItsThread>,
    pub(super) port: &'a dyn Port,
    pub(super) index: usize,
    /// The address of the handle, which identifies it.
    handle: usize,
}

impl<'a> Arm<'a> {
    /// Makes the operation of this handle.
    pub(super) fn new<P: Port>(handle: &'a P, index: usize) -> Self {
        Self { stays: PhantomData, port: handle, index, handle: std::ptr::from_ref(handle).addr() }
    }

    /// Returns whether this is the operation of this very handle.
    pub(super) fn is_of<P: Port>(&self, handle: &P) -> bool {
        self.handle == std::ptr::from_ref(handle).addr()
    }
}
