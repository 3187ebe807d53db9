//! How deep a stack was used: of any sound stack, also while another thread writes to it.
//!
//! # Safety
//!
//! Writes to memory that it has mapped itself.
#![expect(unsafe_code, reason = "stacks of odd shapes are made by hand")]

use std::hint::black_box;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

use sinew_coroutine::{
    Coroutine, CoroutineState, LARGEST_CLASS, MmapStack, Stack, StackPool, clear_used, high_water,
};

use crate::support::is_emulated;

/// Pages between the guard and the end of the mapping.
const PAGES: usize = 4;

/// A stack that neither begins nor ends at a page boundary: other memory shares its first and last
/// page.
struct Odd {
    mapping: *mut u8,
    /// The distance of its limit from the guard.
    above: usize,
    /// The distance of its top from the end of the mapping.
    below: usize,
}

fn page() -> usize {
    // SAFETY: no precondition.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size")
}

impl Odd {
    fn new(above: usize, below: usize) -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), page() * (PAGES + 1), access, flags, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED);
        // SAFETY: the first page of it.
        assert_eq!(unsafe { libc::mprotect(mapping, page(), libc::PROT_NONE) }, 0);
        Self { mapping: mapping.cast(), above, below }
    }

    /// Writes a byte at this depth below the top. The byte at depth zero is not part of the stack.
    fn write(&self, depth: isize) {
        // SAFETY: the tests choose depths within the mapping.
        unsafe { self.top().as_ptr().wrapping_offset(-depth).write(7) };
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        // SAFETY: no code uses it any more.
        unsafe { libc::munmap(self.mapping.cast(), page() * (PAGES + 1)) };
    }
}

// SAFETY: the mapping contains it for as long as it lives, with a guard below. (The mapping of a
// forgotten one stays.)
unsafe impl Stack for Odd {
    fn top(&self) -> NonNull<u8> {
        NonNull::new(self.mapping.wrapping_add(page() * (PAGES + 1) - self.below)).expect("an address")
    }

    fn limit(&self) -> NonNull<u8> {
        NonNull::new(self.mapping.wrapping_add(page() + self.above)).expect("an address")
    }
}

#[test]
fn bytes_above_an_odd_top_do_not_count() {
    for below in 1..=16 {
        let mut stack = Odd::new(0, below);
        stack.write(0);
        assert_eq!(high_water(&stack), 0, "{below}");
        stack.write(1);
        assert_eq!(high_water(&stack), 1, "{below}");
        clear_used(&mut stack);
        assert_eq!(high_water(&stack), 0, "{below}");
    }
}

#[test]
fn bytes_below_an_odd_limit_do_not_count() {
    for above in 1..=16 {
        let mut stack = Odd::new(above, 0);
        let size = stack.size().cast_signed();
        stack.write(size + 1);
        assert_eq!(high_water(&stack), 0, "{above}");
        stack.write(size);
        assert_eq!(high_water(&stack), stack.size(), "{above}");
        clear_used(&mut stack);
        assert_eq!(high_water(&stack), 0, "{above}");
    }
}

#[test]
fn the_mark_is_the_lowest_byte_that_was_written() {
    for above in [0, 24] {
        let stack = Odd::new(above, 5);
        for depth in [1, 2, 7, 8, 9, 100, 5_000, 5_001, 5_002, 10_000] {
            stack.write(depth);
            assert_eq!(high_water(&stack), depth.unsigned_abs(), "{above}");
        }
    }
}

#[test]
fn asking_brings_no_page_of_an_odd_stack_into_memory() {
    if is_emulated() {
        return eprintln!("skipped: the emulator does not tell which pages are in memory");
    }
    let stack = Odd::new(24, 0);
    stack.write(1);
    assert_eq!(high_water(&stack), 1);
    let mut there = [0_u8; PAGES + 1];
    // SAFETY: the buffer has a byte for each page of the mapping.
    let asked = unsafe { libc::mincore(stack.mapping.cast(), page() * (PAGES + 1), there.as_mut_ptr()) };
    assert_eq!((asked, there.map(|byte| byte & 1)), (0, [0, 0, 0, 0, 1]));
}

/// The kernel is asked about 4 MiB at a time, and this stack is larger.
#[test]
fn asking_brings_no_page_of_a_large_stack_into_memory() {
    if is_emulated() {
        return eprintln!("skipped: the emulator does not tell which pages are in memory");
    }
    let pool = StackPool::new();
    let stack = pool.acquire(LARGEST_CLASS).expect("a stack");
    assert_eq!((high_water(&stack), pool.resident()), (0, 0));
    // SAFETY: this is the highest byte of a stack that nothing runs on.
    unsafe { stack.top().as_ptr().wrapping_sub(1).write(7) };
    assert_eq!((high_water(&stack), pool.resident()), (1, page()));
}

/// A suspended coroutine may have lent a part of its stack to another thread.
#[test]
fn a_stack_may_be_asked_about_while_another_thread_writes_to_it() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let stack = MmapStack::new(256 * 1024).expect("a stack");
    let mut lender = Coroutine::<(), (), u64>::new(stack, |suspender, ()| {
        let mut lent = 1_u64;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !DONE.load(Ordering::Relaxed) {
                    lent = black_box(lent.wrapping_add(1) | 1);
                }
            });
            suspender.suspend(());
        });
        black_box(lent)
    });
    assert_eq!(lender.resume(()), CoroutineState::Yielded(()));
    let is_used = (0..100).all(|_| high_water(lender.stack()) > 0);
    // Joined before any panic: the coroutine must end only after its thread.
    DONE.store(true, Ordering::Relaxed);
    assert!(matches!(lender.resume(()), CoroutineState::Complete(_)));
    assert!(is_used);
}
