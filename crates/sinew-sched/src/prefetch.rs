//! Prefetches memory.
//!
//! # Safety
//!
//! Trusted with an instruction that is a hint.
#![expect(unsafe_code, reason = "the hint is an instruction")]

/// Prefetches memory that is needed soon. Any address is allowed.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint: no address makes it fault, and it has no visible effect.
    unsafe {
        core::arch::asm!("prefetcht0 [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
