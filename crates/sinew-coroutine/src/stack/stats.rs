//! The statistics of a pool.

/// The number of stacks of a [`StackPool`](super::StackPool), by state. A snapshot: it is exact if
/// no thread takes or returns a stack meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackStats {
    /// Stacks that users have.
    pub live: usize,
    /// Unused stacks that keep their memory, in the pool and in caches.
    pub pooled: usize,
    /// Bytes of address space that the slabs take.
    pub reserved: usize,
    /// The number of slabs.
    pub slabs: usize,
    /// Guards made by `MADV_GUARD_INSTALL`.
    pub guards_by_advice: usize,
    /// Guards made by `mprotect`.
    pub guards_by_protection: usize,
}
