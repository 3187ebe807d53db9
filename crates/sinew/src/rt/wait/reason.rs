//! Why a fiber or thread waits, and on which object: written by the waiting fiber or thread, read
//! by any thread.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum WaitKind {
    /// `park`. No object.
    Park,
    /// A sleep. No object.
    Sleep,
    /// The end of a fiber. The object is its control block.
    Join,
    /// The end of the fibers of a scope.
    Scope,
    /// The end of a timer's callback.
    Timer,
    /// The cancellation of a token, scope or fiber.
    Cancellation,
    /// The end of a call on a blocking thread.
    Blocking,
    /// The lock of a mutex.
    Mutex,
    /// The read lock of an `RwLock`.
    RwLockRead,
    /// The write lock of an `RwLock`.
    RwLockWrite,
    /// A condition variable.
    Condvar,
    /// The initialisation of a value.
    Once,
    /// A barrier.
    Barrier,
    /// A permit of a semaphore.
    Semaphore,
    /// An event.
    Event,
    /// A notification.
    Notify,
    /// A baton.
    Baton,
    /// A latch or a wait group.
    Count,
    /// Room in a `BlockingQueue`.
    QueuePush,
    /// A value in a `BlockingQueue`.
    QueuePop,
    /// Room in a channel.
    Send,
    /// A message in a channel.
    Receive,
    /// The other side of a channel without capacity: it was met, and hands over a message.
    Handover,
    /// The end of all receivers of a channel.
    Closed,
    /// Several channels.
    Select,
    /// The end of a work queue.
    WorkQueue,
    /// Readiness of a descriptor for reading.
    Readable,
    /// Readiness of a descriptor for writing.
    Writable,
}

impl WaitKind {
    /// All kinds, in the order of their numbers.
    #[cfg(all(test, not(loom)))]
    const ALL: [Self; 28] = [
        Self::Park,
        Self::Sleep,
        Self::Join,
        Self::Scope,
        Self::Timer,
        Self::Cancellation,
        Self::Blocking,
        Self::Mutex,
        Self::RwLockRead,
        Self::RwLockWrite,
        Self::Condvar,
        Self::Once,
        Self::Barrier,
        Self::Semaphore,
        Self::Event,
        Self::Notify,
        Self::Baton,
        Self::Count,
        Self::QueuePush,
        Self::QueuePop,
        Self::Send,
        Self::Receive,
        Self::Handover,
        Self::Closed,
        Self::Select,
        Self::WorkQueue,
        Self::Readable,
        Self::Writable,
    ];

    /// Returns a wait of this kind on an object, which outlives the wait.
    #[inline]
    pub(crate) fn on<T: ?Sized>(self, object: &T) -> WaitOn {
        WaitOn { kind: self, object: ptr::from_ref(object).cast() }
    }

    /// Returns a wait of this kind without an object.
    #[inline]
    pub(crate) fn alone(self) -> WaitOn {
        WaitOn { kind: self, object: ptr::null() }
    }
}

/// The kind and the object of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitOn {
    kind: WaitKind,
    /// Compared and shown, never dereferenced.
    object: *const (),
}

/// The kind and object of the present wait, or of the last one.
///
/// One word: the kind in the lowest byte, and the address of the object above it. No address has
/// more than 56 bits, except for tags, which do not matter here.
#[derive(Debug)]
pub(crate) struct WaitReason(AtomicUsize);

impl WaitReason {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(WaitKind::Park as usize))
    }

    /// Records the reason of a wait that begins. Called by the fiber or thread that waits.
    #[inline]
    pub(crate) fn set(&self, on: WaitOn) {
        // Relaxed: the word is shown to people, and publishes no other memory.
        self.0.store(on.object.addr() << 8 | on.kind as usize, Ordering::Relaxed);
    }

    /// Returns the kind and the address of the object, which is 0 if there is none.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn get(&self) -> (WaitKind, usize) {
        let word = self.0.load(Ordering::Relaxed);
        (WaitKind::ALL[word & 0xFF], word >> 8)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{WaitKind, WaitReason};

    #[test]
    fn a_reason_has_a_kind_and_an_object() {
        let (reason, object) = (WaitReason::new(), 0_u8);
        assert_eq!(reason.get(), (WaitKind::Park, 0));
        for (number, kind) in WaitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            reason.set(kind.on(&object));
            assert_eq!(reason.get(), (kind, (&raw const object).addr()));
            reason.set(kind.alone());
            assert_eq!(reason.get(), (kind, 0));
        }
    }
}
