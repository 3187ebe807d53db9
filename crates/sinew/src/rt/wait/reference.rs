//! A counted reference to a fiber, or to a thread that is seen as one.
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

/// A counted reference to a fiber, or one to a thread.
pub(crate) struct FiberRef(
    /// # Invariant
    ///
    /// The address of a block, with a reference of this value's own; or, marked with [`THREAD`],
    /// what [`Arc::into_raw`] returned.
    NonNull<()>,
);

/// Marks the address of a thread's. Both kinds are aligned, so that no address has this bit.
const THREAD: usize = 1;

/// A thread that is seen as a fiber.
#[derive(Debug)]
struct Identity {
    thread: Thread,
    id: NonZero<u64>,
}

const _: () = assert!(align_of::<Control>() > THREAD && align_of::<Identity>() > THREAD);

// SAFETY: a block is shared between threads, and so is a thread's handle.
unsafe impl Send for FiberRef {}
// SAFETY: as above.
unsafe impl Sync for FiberRef {}

// Nothing of a fiber is seen half done through this, whatever a panic interrupts.
impl_unwind_safe!(FiberRef);

impl FiberRef {
    /// One more reference to a fiber.
    ///
    /// # Safety
    ///
    /// The fiber is there.
    pub(crate) unsafe fn new(control: NonNull<Control>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Control::add_ref(control) };
        Self(control.cast())
    }

    /// A reference that is there already.
    ///
    /// # Safety
    ///
    /// The caller has it, and gives it up.
    #[inline]
    pub(crate) unsafe fn from_ref(control: NonNull<Control>) -> Self {
        Self(control.cast())
    }

    /// A thread.
    pub(crate) fn of_thread(thread: Thread, id: NonZero<u64>) -> Self {
        Self::of(Arc::new(Identity { thread, id }))
    }

    fn of(thread: Arc<Identity>) -> Self {
        let address = Arc::into_raw(thread).map_addr(|address| address | THREAD);
        // SAFETY: an address with a bit set is not null.
        Self(unsafe { NonNull::new_unchecked(address.cast_mut().cast()) })
    }

    /// The fiber's block, or what [`Arc::into_raw`] returned.
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

    /// The fiber that calls this, if it is one.
    pub(crate) fn running() -> Option<Self> {
        // SAFETY: it runs, so it is there.
        suspend::running().map(|(_, control)| unsafe { Self::new(control) })
    }

    /// The address of the control block.
    ///
    /// # Safety
    ///
    /// This is a reference to a fiber, not to a thread.
    #[inline]
    pub(crate) unsafe fn address_unchecked(&self) -> NonNull<Control> {
        self.0.cast()
    }

    /// The address of the control block. None, of a thread.
    pub(crate) fn address(&self) -> Option<NonNull<Control>> {
        self.who().ok()
    }

    /// The control block. None, of a thread.
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

    /// Gives up a pin of the fiber, if it is one.
    pub(crate) fn unpin(&self) {
        // SAFETY: the invariant.
        self.address().into_iter().for_each(|control| unsafe { suspend::unpin(control) });
    }

    /// The node that the fiber is cancelled through, made if it has none. None, of a thread or a
    /// fiber that has ended.
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

    /// The name it was given.
    pub(crate) fn name(&self) -> Option<&str> {
        self.get().map_or_else(|thread| thread.thread.name(), |fiber| fiber.birth.name.as_deref())
    }

    pub(crate) fn status(&self) -> Option<Status> {
        let fiber = self.get().ok()?;
        // One that was abandoned may still be told to go on, and is said to be ready then; it does not, and its end stands.
        Some(if fiber.join.ending.is_done() { Status::Done } else { fiber.status() })
    }

    /// The worker that it runs on, or ran on last. None, if it has not begun, and of a thread.
    pub(crate) fn worker(&self) -> Option<usize> {
        let worker = self.get().ok()?.worker();
        (worker != NOWHERE).then_some(worker as usize)
    }

    /// How it was made. None, of a thread.
    pub(crate) fn birth(&self) -> Option<&Birth> {
        self.get().ok().map(|fiber| &fiber.birth)
    }
}

impl Poke for FiberRef {
    /// Also has a thread that is parked go on, or not park the next time.
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
                // SAFETY: the invariant: this value has one of its own.
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
