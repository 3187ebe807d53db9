//! Reads memory that another thread may be writing, or that holds no value of any type. Knows no
//! stack.
//!
//! A read in Rust would be undefined behavior there, volatile or not. A load in assembly returns
//! what the processor finds, and sanitizers do not treat it as an access by the program.
//!
//! # Safety
//!
//! Trusted with one load instruction per function, from the address that the caller gives.
#![expect(unsafe_code, reason = "the loads are assembly")]

use core::arch::asm;

/// Returns the word at an address. Its lowest byte is the one at the address itself.
///
/// # Safety
///
/// The eight bytes at the address are readable, and the address is a multiple of eight.
pub(super) unsafe fn word(place: *const u8) -> u64 {
    let value: u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise. The load changes only its result.
    unsafe {
        asm!("mov {}, qword ptr [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise. The load changes only its result.
    unsafe {
        asm!("ldr {}, [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    value
}

/// Returns the byte at an address.
///
/// # Safety
///
/// The byte is readable.
pub(super) unsafe fn byte(place: *const u8) -> u8 {
    let value: u32;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise. The load changes only its result.
    unsafe {
        asm!("movzx {:e}, byte ptr [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise. The load changes only its result.
    unsafe {
        asm!("ldrb {:w}, [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_a_byte_are_read() {
        let bytes = [0x1122_3344_5566_7788_u64.to_le(), 9];
        let start = bytes.as_ptr().cast::<u8>();
        // SAFETY: the array's first word.
        assert_eq!(unsafe { word(start) }, 0x1122_3344_5566_7788);
        // SAFETY: the array's first byte.
        assert_eq!(unsafe { byte(start) }, 0x88);
        // SAFETY: a byte of the array's second word.
        assert_eq!(unsafe { byte(start.wrapping_add(9)) }, 0);
    }
}
