//! Plain memory from the system, to measure what page faults cost by themselves.
//!
//! # Safety
//!
//! This file is trusted with one mapping for each value, and with writing single bytes that its
//! callers own.
#![expect(unsafe_code, reason = "memory is mapped and touched")]

use std::ptr;

/// The size of a page.
pub(crate) const PAGE: usize = 4096;

/// A private anonymous mapping without huge pages.
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes.
    ///
    /// # Panics
    ///
    /// The system has no memory.
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

    /// Returns where it begins.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Unmaps `bytes` bytes at its end, or all that are left.
    fn shorten(&mut self, bytes: usize) {
        let bytes = bytes.min(self.length);
        self.length -= bytes;
        self.unmap(self.length, bytes);
    }

    fn unmap(&self, offset: usize, bytes: usize) {
        // SAFETY: this part of the mapping is not used any more. If it is empty, the call fails and
        // does nothing.
        unsafe { libc::munmap(self.start.wrapping_add(offset).cast(), bytes) };
    }
}

// SAFETY: several threads can get nothing of it but its address.
unsafe impl Sync for Mapping {}

/// Memory that was touched, and is held until it is needed. A virtual machine gives free memory
/// back to its host after a while. A page that the host has to lend again takes several times as
/// long to touch, so a measurement of page faults that runs for seconds would measure the host. The
/// kernel hands out next what is released here.
///
/// The kernel keeps the pages of its own tables apart from those of programs. So pages lie as far
/// apart as those that are going to be touched: then the reserve has as many tables as they will
/// need, and releases them too.
pub(crate) struct Reserve {
    mapping: Mapping,
    stride: usize,
}

impl Reserve {
    /// Touches `bytes` bytes: whole pages that begin `stride` bytes apart.
    pub(crate) fn new(bytes: usize, stride: usize) -> Self {
        let mapping = Mapping::new(bytes / PAGE * stride);
        for end in (stride..=mapping.length).step_by(stride) {
            write_below(mapping.start.wrapping_add(end));
        }
        Self { mapping, stride }
    }

    /// Gives `bytes` bytes back to the kernel, or all that are left.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.mapping.shorten(bytes / PAGE * self.stride);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.unmap(0, self.length);
    }
}

/// Writes the byte below an address, which is the top of a stack or the end of a part of a mapping.
pub(crate) fn write_below(top: *mut u8) {
    // SAFETY: the caller owns the memory below the address, and keeps no value in it.
    unsafe { top.wrapping_sub(1).write_volatile(1) };
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Reserve};

    #[test]
    fn a_reserve_is_released_part_by_part() {
        let mut reserve = Reserve::new(3 * PAGE, 5 * PAGE);
        assert_eq!(reserve.mapping.length, 15 * PAGE);
        reserve.release(2 * PAGE);
        assert_eq!(reserve.mapping.length, 5 * PAGE);
        reserve.release(2 * PAGE);
        assert_eq!(reserve.mapping.length, 0);
    }
}
