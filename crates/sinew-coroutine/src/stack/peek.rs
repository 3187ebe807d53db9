//! Reads memory that somebody else may be writing, or that holds no value of any type. Knows no stack.
//!
//! A read of the language's own would be undefined there, volatile or not. A load in assembly gives what the processor
//! finds, and sanitizers do not take it for an access of the program's.
//!
//! # Safety
//!
//! Trusted with one instruction per function, which loads what it is told to.
#![expect(unsafe_code, reason = "the loads are assembly")]

use core::arch::asm;

/// The word at an address; its lowest byte is the one at the address itself.
///
/// # Safety
///
/// Eight bytes from there on are readable, and the address is a multiple of eight.
pub(super) unsafe fn word(place: *const u8) -> u64 {
    let value: u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise; it changes nothing but its result.
    unsafe {
        asm!("mov {}, qword ptr [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise; it changes nothing but its result.
    unsafe {
        asm!("ldr {}, [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    value
}

/// The byte at an address.
///
/// # Safety
///
/// It is readable.
pub(super) unsafe fn byte(place: *const u8) -> u8 {
    let value: u32;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise; it changes nothing but its result.
    unsafe {
        asm!("movzx {:e}, byte ptr [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise; it changes nothing but its result.
    unsafe {
        asm!("ldrb {:w}, [{}]", out(reg) value, in(reg) place, options(nostack, preserves_flags, readonly));
    }
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_is_there() {
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
