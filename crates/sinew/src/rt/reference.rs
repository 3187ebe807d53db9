//! A counted reference to a fiber, or to a thread that is seen as one.
//!
//! # Safety
//!
//! Trusted with one reference per value.
#![expect(unsafe_code, reason = "fibers are counted by hand")]

use std::fmt;
use std::num::NonZero;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread::Thread;

use super::control::{Control, NOWHERE, Status};
use super::stop::Poke;

/// A handle to a fiber, as [`Thread`] is one to a thread. Outside of fibers,
/// [`current`](crate::fiber::current) returns one to the calling thread.
pub struct Fiber(
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
unsafe impl Send for Fiber {}
// SAFETY: as above.
unsafe impl Sync for Fiber {}

// Nothing of a fiber is seen half done through this, whatever a panic interrupts.
impl UnwindSafe for Fiber {}
impl RefUnwindSafe for Fiber {}

impl Fiber {
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

    /// The block of a fiber.
    ///
    /// # Safety
    ///
    /// It is not a thread.
    #[inline]
    pub(crate) unsafe fn control(&self) -> NonNull<Control> {
        self.0.cast()
    }

    /// Has the fiber's present or next [`park`](crate::fiber::park) return.
    pub fn unpark(&self) {
        match self.who() {
            Ok(control) => Control::unpark(control),
            Err(_) => self.get().expect_err("a thread").thread.unpark(),
        }
    }

    /// The block, unless it is a thread.
    pub(crate) fn block(&self) -> Option<&Control> {
        self.get().ok()
    }

    pub(crate) fn number(&self) -> NonZero<u64> {
        self.get().map_or_else(|thread| thread.id, |fiber| fiber.birth.id)
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.get().map_or_else(|thread| thread.thread.name(), |fiber| fiber.birth.name.as_deref())
    }

    pub(crate) fn status(&self) -> Option<Status> {
        let fiber = self.get().ok()?;
        // One that was abandoned may still be told to go on, and is said to be ready then; it does not, and its end stands.
        Some(if fiber.join.ending.is_done() { Status::Done } else { fiber.status() })
    }

    /// The worker that it runs on, or ran on last; none if it has not begun, nor of plain threads.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().workers(1).stack_size(1 << 18).start()?;
    /// let fiber = runtime.run(sinew::fiber::current);
    /// assert_eq!((fiber.worker(), fiber.stack_size()), (Some(0), Some(1 << 18)));
    /// assert_eq!(sinew::fiber::current().worker(), None);
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    #[must_use]
    pub fn worker(&self) -> Option<usize> {
        let worker = self.get().ok()?.worker();
        (worker != NOWHERE).then_some(worker as usize)
    }

    /// How much stack it has at least, in bytes; not known of plain threads.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.get().ok().map(|fiber| fiber.birth.stack_size)
    }

    /// Where in the program it was made; not known of plain threads.
    #[must_use]
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.get().ok().map(|fiber| fiber.birth.location)
    }
}

impl Poke for Fiber {
    /// Also has a thread that is parked go on, or not park the next time.
    fn poke(&self) {
        match self.who() {
            Ok(control) => Control::poke(control),
            Err(_) => self.unpark(),
        }
    }
}

impl Clone for Fiber {
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

impl Drop for Fiber {
    fn drop(&mut self) {
        match self.who() {
            // SAFETY: the invariant.
            Ok(control) => unsafe { Control::release(control) },
            // SAFETY: as above.
            Err(thread) => drop(unsafe { Arc::from_raw(thread) }),
        }
    }
}

impl fmt::Debug for Fiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber")
            .field("id", &self.number())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
