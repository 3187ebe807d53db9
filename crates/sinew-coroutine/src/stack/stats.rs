//! What a pool tells about itself.

/// How many stacks a [`StackPool`](super::StackPool) has, and in which state; a snapshot that is exact when nobody takes
/// or returns a stack meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackStats {
    /// Stacks that users have.
    pub live: usize,
    /// Unused stacks that kept their memory, in the pool and in caches.
    pub pooled: usize,
    /// Bytes of address space that the slabs take.
    pub reserved: usize,
    /// Slabs.
    pub slabs: usize,
    /// Guards made by `MADV_GUARD_INSTALL`.
    pub guards_by_advice: usize,
    /// Guards made by `mprotect`.
    pub guards_by_protection: usize,
}
