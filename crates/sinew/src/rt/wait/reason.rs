//! Why a fiber or thread waits, and on which object: written by the one that waits, read by any
//! thread.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a wait is for.
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
    /// That something is cancelled.
    Cancellation,
    /// A call on a thread that may block.
    Blocking,
    /// The lock of a mutex.
    Mutex,
    /// The lock of a reader.
    RwLockRead,
    /// The lock of a writer.
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
    /// The other side of a channel without capacity, which has been met and hands over.
    Handover,
    /// That the receivers of a channel are gone.
    Closed,
    /// Several channels.
    Select,
    /// The end of a work queue.
    WorkQueue,
    /// A descriptor to be readable.
    Readable,
    /// A descriptor to be writable.
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

    /// A wait of this kind on an object, which is there while it lasts.
    #[inline]
    pub(crate) fn on<T: ?Sized>(self, object: &T) -> WaitOn {
        WaitOn { kind: self, object: ptr::from_ref(object).cast() }
    }

    /// A wait of this kind without an object.
    #[inline]
    pub(crate) fn alone(self) -> WaitOn {
        WaitOn { kind: self, object: ptr::null() }
    }
}

/// A reason to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitOn {
    kind: WaitKind,
    /// Compared and shown, never followed.
    object: *const (),
}

/// The reason of the present wait, or of the last one.
///
/// One word: the kind in the lowest byte, and the address of the object above. No address has more
/// than 56 bits, but for tags that do not matter here.
#[derive(Debug)]
pub(crate) struct WaitReason(AtomicUsize);

impl WaitReason {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(WaitKind::Park as usize))
    }

    /// Notes the reason of a wait that begins. For the fiber or thread that waits.
    #[inline]
    pub(crate) fn set(&self, on: WaitOn) {
        // Relaxed: it is shown to people, and says nothing about anything else in memory.
        self.0.store(on.object.addr() << 8 | on.kind as usize, Ordering::Relaxed);
    }

    /// Returns the kind and the address of the object, 0 if there is none.
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
