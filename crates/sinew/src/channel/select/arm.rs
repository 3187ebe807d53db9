//! One of the operations of a select.

use std::marker::PhantomData;

use super::port::Port;

/// A type whose name is what the compiler says of whoever sends a select to another thread. An object of it may be neither sent nor shared.
trait SelectStaysOnItsThread: Unpin {}

#[derive(Clone, Copy)]
pub(super) struct Arm<'a> {
    /// In front, since what comes first is complained of first.
    stays: PhantomData<dyn SelectStaysOnItsThread>,
    pub(super) port: &'a dyn Port,
    pub(super) index: usize,
    /// Where the handle is, to know it by.
    handle: usize,
}

impl<'a> Arm<'a> {
    /// What this handle does.
    pub(super) fn new<P: Port>(handle: &'a P, index: usize) -> Self {
        Self { stays: PhantomData, port: handle, index, handle: std::ptr::from_ref(handle).addr() }
    }

    /// Whether it is of this handle, and no other one.
    pub(super) fn is_of<P: Port>(&self, handle: &P) -> bool {
        self.handle == std::ptr::from_ref(handle).addr()
    }
}
