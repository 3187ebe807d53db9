//! Plain memory from the system, to see what page faults cost by themselves.
//!
//! # Safety
//!
//! Trusted with one mapping per value, and with writing single bytes that its callers own.
#![expect(unsafe_code, reason = "memory is mapped and touched")]

use std::ptr;

/// A private anonymous mapping without huge pages.
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps so many bytes. Panics where the system has none.
    pub(crate) fn new(length: usize) -> Self {
        let (access, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, access, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "memory for the measurement");
        // SAFETY: advice about memory that is ours.
        unsafe { libc::madvise(start, length, libc::MADV_NOHUGEPAGE) };
        Self { start: start.cast(), length }
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

// SAFETY: all that several threads can have of it is its address.
unsafe impl Sync for Mapping {}

/// Memory that was touched and is held until it is needed. A virtual machine gives free memory back to its host after a
/// while, and a page that has to be lent again takes several times as long to touch: whoever measures page faults for
/// seconds would measure that. What is released here is what the kernel hands out next.
pub(crate) struct Reserve {
    mapping: Mapping,
    left: usize,
}

impl Reserve {
    /// Touches so many bytes.
    pub(crate) fn new(length: usize) -> Self {
        let mapping = Mapping::new(length);
        for offset in (4096..=length).step_by(4096) {
            write_below(mapping.start.wrapping_add(offset));
        }
        Self { mapping, left: length }
    }

    /// Gives so many bytes back to the kernel, or those that are left.
    pub(crate) fn release(&mut self, bytes: usize) {
        let bytes = bytes.min(self.left);
        self.left -= bytes;
        let from = self.mapping.start.wrapping_add(self.left);
        // SAFETY: whole pages of a mapping that is ours, in which nobody keeps anything.
        unsafe { libc::madvise(from.cast(), bytes, libc::MADV_DONTNEED) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody uses it after this.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// Writes the byte below an address: the highest of a stack with that top, or of a part of a mapping.
pub(crate) fn write_below(top: *mut u8) {
    // SAFETY: the callers own the memory below, and nothing else is there.
    unsafe { top.wrapping_sub(1).write_volatile(1) };
}
