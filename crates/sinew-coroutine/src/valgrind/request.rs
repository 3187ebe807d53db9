//! Valgrind's client requests about stacks: an instruction sequence that does nothing, except under
//! valgrind.
//!
//! # Safety
//!
//! Trusted with the sequence, which changes only the registers that it declares.
#![expect(unsafe_code, reason = "a request to valgrind is assembly")]

use core::arch::asm;
use core::ptr::NonNull;

const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;

/// A stack that valgrind knows, until this value is dropped.
pub(crate) struct KnownStack {
    id: usize,
}

impl KnownStack {
    pub(crate) fn new(limit: NonNull<u8>, top: NonNull<u8>) -> Self {
        Self { id: request(STACK_REGISTER, limit.addr().get(), top.addr().get() - 1) }
    }
}

impl Drop for KnownStack {
    fn drop(&mut self) {
        request(STACK_DEREGISTER, self.id, 0);
    }
}

/// Sends a request to valgrind and returns its answer; zero without valgrind.
fn request(what: usize, one: usize, two: usize) -> usize {
    let arguments = [what, one, two, 0, 0, 0];
    let mut result = 0_usize;
    // SAFETY: the rotations add up to whole turns, and a register is exchanged with itself.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            out("rdi") _,
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") result,
            out("x12") _,
        );
    }
    result
}
