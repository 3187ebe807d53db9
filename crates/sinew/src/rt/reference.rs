//! A counted reference to a fiber, or to a thread that is seen as one.
//!
//! # Safety
//!
//! Trusted with one reference per value.
#![expect(unsafe_code, reason = "fibers are counted by hand")]

use std::fmt;
use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::thread::Thread;

use super::control::{Control, NOWHERE, Status};

/// A fiber; or a plain thread, as [`current`](crate::fiber::current) shows it there.
pub struct Fiber(Who);

enum Who {
    /// # Invariant
    ///
    /// A reference of this value's own.
    Fiber(NonNull<Control>),
    Thread(Thread, NonZero<u64>),
}

// SAFETY: a block is shared between threads, and so is a thread's handle.
unsafe impl Send for Fiber {}
// SAFETY: as above.
unsafe impl Sync for Fiber {}

impl Fiber {
    /// One more reference to a fiber.
    ///
    /// # Safety
    ///
    /// The fiber is there.
    pub(crate) unsafe fn new(control: NonNull<Control>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Control::add_ref(control) };
        Self(Who::Fiber(control))
    }

    /// A reference that is there already.
    ///
    /// # Safety
    ///
    /// The caller has it, and gives it up.
    pub(crate) unsafe fn from_ref(control: NonNull<Control>) -> Self {
        Self(Who::Fiber(control))
    }

    /// A thread.
    pub(crate) fn of_thread(thread: Thread, id: NonZero<u64>) -> Self {
        Self(Who::Thread(thread, id))
    }

    fn get(&self) -> Result<&Control, (&Thread, NonZero<u64>)> {
        match &self.0 {
            // SAFETY: the invariant.
            Who::Fiber(control) => Ok(unsafe { control.as_ref() }),
            Who::Thread(thread, id) => Err((thread, *id)),
        }
    }

    /// Has the fiber's present or next [`park`](crate::fiber::park) return.
    pub fn unpark(&self) {
        match &self.0 {
            Who::Fiber(control) => Control::unpark(*control),
            Who::Thread(thread, _) => thread.unpark(),
        }
    }

    pub(crate) fn number(&self) -> NonZero<u64> {
        self.get().map_or_else(|(_, id)| id, |fiber| fiber.birth.id)
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.get().map_or_else(|(thread, _)| thread.name(), |fiber| fiber.birth.name.as_deref())
    }

    pub(crate) fn status(&self) -> Option<Status> {
        self.get().ok().map(Control::status)
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

impl Clone for Fiber {
    fn clone(&self) -> Self {
        match &self.0 {
            // SAFETY: the invariant.
            Who::Fiber(control) => unsafe { Self::new(*control) },
            Who::Thread(thread, id) => Self(Who::Thread(thread.clone(), *id)),
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if let Who::Fiber(control) = self.0 {
            // SAFETY: the invariant.
            unsafe { Control::release(control) };
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
