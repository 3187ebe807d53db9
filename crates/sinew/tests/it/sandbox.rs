//! Sandboxes that refuse system calls which sinew can do without.
//!
//! # Safety
//!
//! The unsafe calls have the kernel refuse a system call to this process, which is a child.
#![expect(unsafe_code, reason = "a filter for system calls is raw memory")]

use std::io;

use super::support::{in_child, stderr};
use sinew::{Runtime, fiber};

/// Has the kernel refuse a system call with `EPERM`, to all threads that this one starts, too.
///
/// # Errors
///
/// If there are no such filters here: in an emulator, for instance.
fn refuse(call: libc::c_long) -> io::Result<()> {
    let statement =
        |code: u32, k: u32, (jt, jf): (u8, u8)| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The first word of what it looks at is the number of the call.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, (0, 0)),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, (0, 1)),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, (0, 0)),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, (0, 0)),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: numbers only.
    let is_allowed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: the kernel copies the filter, which is there.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if is_allowed && set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Without an alternate stack an overflow is not named. All else is as it is elsewhere.
#[test]
fn a_runtime_works_where_alternate_signal_stacks_are_refused() {
    let output = in_child("sandbox::a_runtime_works_where_alternate_signal_stacks_are_refused", || {
        if let Err(error) = refuse(libc::SYS_sigaltstack) {
            return println!("skipped: {error}");
        }
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).start().unwrap();
            let sum = runtime
                .run(|| (0..100).map(|number| fiber::spawn(move || number).join().unwrap()).sum::<u32>());
            assert_eq!(sum, 4950);
            assert!(runtime.shutdown(None).drained);
        }
        println!("all works");
    });
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", stderr(&output));
    assert!(told.contains("all works") || told.contains("skipped"), "{told}{}", stderr(&output));
}
