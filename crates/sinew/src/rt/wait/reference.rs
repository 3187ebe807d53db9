//! A counted reference to a fiber, or to a thread that is treated as one.
//!
//! # Safety
//!
//! Trusted with one reference per value.
#![expect(unsafe_code, reason = "fibers are counted by hand")]

use std::fmt;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread::Thread;

use super::control::{Birth, Control, NOWHERE, Status};
use super::stop::{Node, Poke};
use super::{ready, suspend};
use crate::rt::base::impl_unwind_safe;

/// A counted reference to a fiber or to a thread.
pub(crate) struct FiberRef(
    /// # Invariant
    ///
    /// The address of a control block, with a reference that this value owns; or, marked with
    /// [`THREAD`], the pointer that [`Arc::into_raw`] returned.
    NonNull<()>,
);

/// Marks the address of a thread's identity. Both kinds are aligned, so no address has this bit.
const THREAD: usize = 1;

/// A thread that is treated as a fiber.
#[derive(Debug)]
struct Identity {
    thread: Thread,
    id: NonZero<u64>,
}

const _: () = assert!(align_of::<Control>() > THREAD && align_of::<Identity>() > THREAD);

// SAFETY: a control block is shared between threads, and so is the handle of a thread.
unsafe impl Send for FiberRef {}
// SAFETY: as above.
unsafe impl Sync for FiberRef {}

// A panic leaves nothing of a fiber half-changed that is visible through this.
impl_unwind_safe!(FiberRef);

impl FiberRef {
    /// Adds a reference to a fiber.
    ///
    /// # Safety
    ///
    /// The control block is alive.
    pub(crate) unsafe fn new(control: NonNull<Control>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Control::add_ref(control) };
        Self(control.cast())
    }

    /// Takes over a reference.
    ///
    /// # Safety
    ///
    /// The caller holds the reference, and gives it up.
    #[inline]
    pub(crate) unsafe fn from_ref(control: NonNull<Control>) -> Self {
        Self(control.cast())
    }

    /// Returns a reference to a thread.
    pub(crate) fn of_thread(thread: Thread, id: NonZero<u64>) -> Self {
        Self::of(Arc::new(Identity { thread, id }))
    }

    fn of(thread: Arc<Identity>) -> Self {
        let address = Arc::into_raw(thread).map_addr(|address| address | THREAD);
        // SAFETY: an address with a bit set is not null.
        Self(unsafe { NonNull::new_unchecked(address.cast_mut().cast()) })
    }

    /// Returns the fiber's control block, or the pointer that [`Arc::into_raw`] returned.
    #[inline]
    fn who(&self) -> Result<NonNull<Control>, *const Identity> {
        if self.0.addr().get() & THREAD == 0 {
            Ok(self.0.cast())
        } else {
            Err(self.0.as_ptr().map_addr(|address| address & !THREAD).cast_const().cast())
        }
    }

    fn get(&self) -> Result<&Control, &Identity> {
        match self.who() {
            // SAFETY: the invariant.
            Ok(control) => Ok(unsafe { control.as_ref() }),
            // SAFETY: as above.
            Err(thread) => Err(unsafe { &*thread }),
        }
    }

    /// Returns the calling fiber, or `None` if the caller is a thread.
    pub(crate) fn running() -> Option<Self> {
        // SAFETY: the fiber runs, so its control block is alive.
        suspend::running().map(|(_, control)| unsafe { Self::new(control) })
    }

    /// Returns the address of the control block.
    ///
    /// # Safety
    ///
    /// This is a reference to a fiber, not to a thread.
    #[inline]
    pub(crate) unsafe fn address_unchecked(&self) -> NonNull<Control> {
        self.0.cast()
    }

    /// Returns the address of the control block, or `None` for a thread.
    pub(crate) fn address(&self) -> Option<NonNull<Control>> {
        self.who().ok()
    }

    /// Returns the control block, or `None` for a thread.
    pub(crate) fn control(&self) -> Option<&Control> {
        self.get().ok()
    }

    /// Ends the present park of the fiber, or makes its next park return at once.
    pub(crate) fn unpark(&self) {
        match self.get() {
            // SAFETY: the invariant.
            Ok(_) => unsafe { ready::unpark(self.0.cast()) },
            Err(thread) => thread.thread.unpark(),
        }
    }

    /// Removes a pin of the fiber. Does nothing for a thread.
    pub(crate) fn unpin(&self) {
        // SAFETY: the invariant.
        self.address().into_iter().for_each(|control| unsafe { suspend::unpin(control) });
    }

    /// Returns the node through which the fiber is cancelled, made if it has none. Returns `None`
    /// for a thread or for a fiber that has ended.
    pub(crate) fn own_node(&self) -> Option<Arc<Node>> {
        let control = self.control()?;
        if control.own.get().is_none() {
            // SAFETY: the invariant.
            unsafe { (control.body.make_node)(self.0.cast()) };
        }
        control.own.get().cloned()
    }

    pub(crate) fn number(&self) -> NonZero<u64> {
        self.get().map_or_else(|thread| thread.id, |fiber| fiber.birth.id)
    }

    /// Returns the name, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.get().map_or_else(|thread| thread.thread.name(), |fiber| fiber.birth.name.as_deref())
    }

    pub(crate) fn status(&self) -> Option<Status> {
        let fiber = self.get().ok()?;
        // An abandoned fiber may still be woken, and its status says ready then. It does not run,
        // and its end stands.
        Some(if fiber.join.ending.is_done() { Status::Done } else { fiber.status() })
    }

    /// Returns the worker that runs the fiber, or ran it last. Returns `None` for a fiber that has
    /// not begun, and for a thread.
    pub(crate) fn worker(&self) -> Option<usize> {
        let worker = self.get().ok()?.worker();
        (worker != NOWHERE).then_some(worker as usize)
    }

    /// Returns the properties set when the fiber was made, or `None` for a thread.
    pub(crate) fn birth(&self) -> Option<&Birth> {
        self.get().ok().map(|fiber| &fiber.birth)
    }
}

impl Poke for FiberRef {
    /// Ends the wait of a fiber, if a poke may. Unparks a thread.
    fn poke(&self) {
        match self.who() {
            // SAFETY: the invariant.
            Ok(control) => unsafe { ready::poke(control) },
            Err(_) => self.unpark(),
        }
    }
}

impl Clone for FiberRef {
    fn clone(&self) -> Self {
        match self.who() {
            // SAFETY: the invariant.
            Ok(control) => unsafe { Self::new(control) },
            Err(thread) => {
                // SAFETY: the invariant: this value owns a reference.
                unsafe { Arc::increment_strong_count(thread) };
                Self(self.0)
            }
        }
    }
}

impl Drop for FiberRef {
    fn drop(&mut self) {
        match self.who() {
            // SAFETY: the invariant.
            Ok(control) => unsafe { Control::release(control) },
            // SAFETY: as above.
            Err(thread) => drop(unsafe { Arc::from_raw(thread) }),
        }
    }
}

impl fmt::Debug for FiberRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber")
            .field("id", &self.number())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
