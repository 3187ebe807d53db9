//! The pool of stacks: sizes, guards, reuse, limits, and memory that is given back.
//!
//! # Safety
//!
//! Reads and writes stacks that it owns and that nothing runs on, and asks the kernel about
//! addresses.
#![expect(unsafe_code, reason = "stacks are raw memory")]

use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sinew_coroutine::{
    Coroutine, CoroutineState, DEFAULT_STACK_SIZE, GuardKind, LARGEST_CLASS, PooledStack, SMALLEST_CLASS,
    Stack, StackError, StackPool, clear_used, high_water,
};

use crate::support::is_emulated;

// Some tests are not for sanitizers, which need address space themselves, never lock memory, and
// keep locals elsewhere.

pub(crate) const SIZE: usize = 128 * 1024;
const PAGE: usize = 4096;

/// Returns whether the kernel refuses to write to an address.
pub(crate) fn faults(address: NonNull<u8>) -> bool {
    // SAFETY: the kernel writes a byte of a stack that the test owns, or returns an error.
    unsafe { libc::getrandom(address.as_ptr().cast(), 1, 0) < 0 }
}

/// Returns the highest byte of the guard below a stack.
pub(crate) fn guard_of(stack: &PooledStack) -> NonNull<u8> {
    NonNull::new(stack.limit().as_ptr().wrapping_sub(1)).expect("an address")
}

pub(crate) fn write_first(stack: &PooledStack, value: u64) {
    // SAFETY: this is the second highest word of a stack that nothing runs on.
    unsafe { stack.top().as_ptr().wrapping_sub(16).cast::<u64>().write(value) };
}

pub(crate) fn read_first(stack: &PooledStack) -> u64 {
    // SAFETY: as in `write_first`.
    unsafe { stack.top().as_ptr().wrapping_sub(16).cast::<u64>().read() }
}

pub(crate) fn acquire(pool: &StackPool, count: usize) -> Vec<PooledStack> {
    (0..count).map(|_| pool.acquire(SIZE).expect("a stack")).collect()
}

/// Returns the kinds of guard that this kernel supports.
fn kinds() -> Vec<GuardKind> {
    let mut kinds = vec![GuardKind::Protection];
    kinds.extend((GuardKind::best() == GuardKind::Advice).then_some(GuardKind::Advice));
    kinds
}

#[test]
fn a_stack_has_at_least_what_was_asked_for() {
    let pool = StackPool::new();
    for size in [
        1,
        100,
        5_000,
        SMALLEST_CLASS,
        SMALLEST_CLASS + 1,
        100_001,
        DEFAULT_STACK_SIZE,
        5 << 20,
        LARGEST_CLASS,
    ] {
        let stack = pool.acquire(size).expect("a stack");
        assert!(stack.size() >= size, "{size}: {}", stack.size());
        // SAFETY: this is the lowest byte of a stack that nothing runs on.
        unsafe { stack.limit().write(1) };
        assert!(faults(guard_of(&stack)));
    }
}

#[test]
fn invalid_sizes_are_refused_with_a_message() {
    let pool = StackPool::new();
    for (size, words) in
        [(0, "0 bytes"), (LARGEST_CLASS + 1, "the largest has"), (usize::MAX, "the largest has")]
    {
        let error = pool.acquire(size).expect_err("refused");
        assert!(matches!(error, StackError::Size(refused) if refused == size));
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
    }
    assert_eq!(pool.stats(), StackPool::new().stats());
}

#[test]
fn every_kind_of_guard_guards_all_its_pages() {
    for kind in kinds() {
        for pages in [1, 4] {
            let pool = StackPool::builder().guard_kind(kind).guard_pages(pages).build();
            let stacks = acquire(&pool, 100);
            for stack in &stacks {
                let lowest =
                    NonNull::new(stack.limit().as_ptr().wrapping_sub(pages * PAGE)).expect("an address");
                assert!(faults(guard_of(stack)) && faults(lowest) && !faults(stack.limit()), "{kind:?}");
            }
            let stats = pool.stats();
            let (advice, protection) = (stats.guards_by_advice, stats.guards_by_protection);
            assert!(advice + protection >= 100);
            assert_eq!(if kind == GuardKind::Advice { protection } else { advice }, 0, "{stats:?}");
        }
    }
}

/// Returns whether the kernel supports `MADV_GUARD_INSTALL`, and a page faults after it.
fn has_advice() -> bool {
    const GUARD_INSTALL: libc::c_int = 102;
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), PAGE, access, flags, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: the page is ours and holds nothing.
    let is_taken = unsafe { libc::madvise(page, PAGE, GUARD_INSTALL) } == 0;
    let works = is_taken && faults(NonNull::new(page.cast()).expect("an address"));
    // SAFETY: the page is ours, and nothing uses it.
    assert_eq!(unsafe { libc::munmap(page, PAGE) }, 0);
    works
}

#[test]
fn guards_are_made_by_advice_where_the_kernel_takes_it() {
    assert_eq!(GuardKind::best() == GuardKind::Advice, has_advice());
}

#[test]
fn guards_survive_reuse_and_trimming() {
    for kind in kinds() {
        let pool = StackPool::builder().guard_kind(kind).build();
        let kept = pool.acquire(SIZE).expect("a stack");
        write_first(&kept, 7);
        for _ in 0..3 {
            let stacks = acquire(&pool, 50);
            stacks.iter().for_each(|stack| write_first(stack, 1));
            drop(stacks);
            assert_eq!(pool.trim(), 50);
        }
        let again = acquire(&pool, 50);
        assert!(again.iter().all(|stack| faults(guard_of(stack)) && read_first(stack) == 0), "{kind:?}");
        assert_eq!(read_first(&kept), 7, "trimming leaves live stacks alone");
    }
}

#[test]
fn the_last_one_in_is_the_first_one_out() {
    let pool = StackPool::new();
    let (one, two) = (pool.acquire(SIZE).expect("a stack"), pool.acquire(SIZE).expect("a stack"));
    let tops = [two.top(), one.top()];
    drop(one);
    drop(two);
    assert_eq!(acquire(&pool, 2).iter().map(Stack::top).collect::<Vec<_>>(), tops);
}

#[test]
fn stacks_outlive_their_pool() {
    let pool = StackPool::new();
    let mut cache = pool.cache();
    let stacks = [pool.acquire(SIZE).expect("a stack"), cache.acquire(SIZE).expect("a stack")];
    drop(pool);
    drop(cache);
    let mut coroutines =
        stacks.map(|stack| Coroutine::<u8, u8, u8, _>::new(stack, |suspender, byte| suspender.suspend(byte)));
    for coroutine in &mut coroutines {
        assert_eq!(coroutine.resume(1), CoroutineState::Yielded(1));
    }
}

#[test]
fn the_limit_counts_all_stacks_and_a_returned_stack_makes_room() {
    let pool = StackPool::builder().max_stacks(3).build();
    let mut stacks = acquire(&pool, 3);
    let error = pool.acquire(SMALLEST_CLASS).expect_err("at the limit");
    assert!(matches!(error, StackError::Limit(3)), "{error}");
    assert!(error.to_string().contains("raise `max_stacks`"), "{error}");
    stacks.pop();
    stacks.push(pool.acquire(SIZE).expect("one was released"));
    assert!(pool.acquire(SMALLEST_CLASS).is_err(), "at the limit again");
    stacks.pop();
    assert!(pool.acquire(SMALLEST_CLASS).is_ok(), "the released one made room, though of another size");
    assert_eq!((pool.stats().live, pool.stats().pooled), (2, 1));
}

#[test]
fn untouched_stacks_take_no_memory() {
    if is_emulated() {
        return eprintln!("skipped: the emulator does not tell which pages are in memory");
    }
    let pool = StackPool::new();
    let stacks = acquire(&pool, 1000);
    assert_eq!(pool.resident(), 0, "making a slab touches no stack");
    stacks.iter().for_each(|stack| write_first(stack, 1));
    assert_eq!(pool.resident(), 1000 * PAGE);
}

#[test]
fn prewarmed_stacks_wait_with_their_first_page() {
    if is_emulated() {
        return eprintln!("skipped: the emulator does not tell which pages are in memory");
    }
    let pool = StackPool::new();
    pool.prewarm(SIZE, 100).expect("stacks");
    assert_eq!((pool.stats().pooled, pool.resident()), (100, 100 * PAGE));
}

#[test]
fn trimming_gives_everything_back() {
    let pool = StackPool::new();
    let stacks = acquire(&pool, 2000);
    stacks.iter().for_each(|stack| write_first(stack, 1));
    drop(stacks);
    assert_eq!(pool.trim(), 2000);
    let stats = pool.stats();
    assert_eq!((stats.slabs, stats.reserved, pool.resident()), (0, 0, 0), "{stats:?}");
    assert_eq!((stats.guards_by_advice, stats.guards_by_protection), (0, 0));
}

#[test]
fn each_slab_has_twice_as_many_stacks_as_the_one_before() {
    let pool = StackPool::new();
    let mut stacks = Vec::new();
    for (count, slabs) in [(1, 1), (16, 1), (17, 2), (48, 2), (49, 3), (112, 3), (113, 4)] {
        stacks.extend(acquire(&pool, count - stacks.len()));
        assert_eq!(pool.stats().slabs, slabs, "for {count} stacks");
        let (reserved, usable) = (pool.stats().reserved, ((16 << slabs) - 16) * SIZE);
        assert!((usable..usable * 5 / 4).contains(&reserved), "{reserved} bytes in {slabs} slabs");
    }
    // The two largest slabs are unmapped, and the next slabs are as large as those were.
    stacks.truncate(48);
    pool.trim();
    assert_eq!(pool.stats().slabs, 2);
    for (count, slabs) in [(49, 3), (112, 3), (113, 4)] {
        stacks.extend(acquire(&pool, count - stacks.len()));
        assert_eq!(pool.stats().slabs, slabs, "for {count} stacks");
    }
}

#[test]
fn stacks_that_were_not_needed_for_the_idle_time_are_trimmed() {
    let pool = StackPool::builder().keep(10..=1000).idle(Duration::ZERO).build();
    drop(acquire(&pool, 100));
    assert_eq!(pool.trim_idle(), 0, "all of them were needed since the last check");
    drop(acquire(&pool, 40));
    assert_eq!(pool.trim_idle(), 60, "forty were needed");
    assert_eq!(pool.trim_idle(), 30, "ten are kept");
    assert_eq!(pool.trim_idle(), 0);
    assert_eq!(pool.stats().pooled, 10);
    let patient = StackPool::builder().keep(0..=1000).idle(Duration::from_secs(3600)).build();
    drop(acquire(&patient, 10));
    assert_eq!((patient.trim_idle(), patient.trim_idle()), (0, 0), "the idle time has not passed");
}

/// The clock is an hour ahead of the system's and moves by hand, so that a read of any other clock
/// fails the test.
#[test]
fn idle_time_passes_by_the_clock_that_the_pool_is_given() {
    static NOW: AtomicU64 = AtomicU64::new(3600);
    fn now() -> Instant {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        *START + Duration::from_secs(NOW.load(Ordering::Relaxed))
    }
    let pass = |seconds| NOW.fetch_add(seconds, Ordering::Relaxed);
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let pool = StackPool::builder().keep(0..=1000).idle(Duration::from_secs(60)).clock(now).build();
    drop(acquire(&pool, 10));
    assert_eq!(pool.time_to_trim(), seconds(60), "no time has passed since the pool was made");
    pass(59);
    assert_eq!((pool.trim_idle(), pool.time_to_trim()), (0, seconds(1)), "too early to check");
    pass(1);
    assert_eq!(pool.time_to_trim(), seconds(0));
    assert_eq!((pool.trim_idle(), pool.time_to_trim()), (0, seconds(60)), "the first check");
    pass(59);
    assert_eq!(pool.trim_idle(), 0, "too early for the second");
    pass(1);
    assert_eq!((pool.trim_idle(), pool.time_to_trim()), (10, None));
}

#[test]
fn many_idle_stacks_are_trimmed_some_at_a_time() {
    let pool = StackPool::builder().keep(10..=100_000).idle(Duration::ZERO).build();
    assert_eq!(pool.time_to_trim(), None);
    drop(acquire(&pool, 2000));
    assert_eq!(pool.time_to_trim(), Some(Duration::ZERO));
    let counts: Vec<_> = (0..6).map(|_| pool.trim_idle()).collect();
    assert_eq!(counts, [0, 512, 512, 512, 454, 0]);
    assert_eq!((pool.stats().pooled, pool.time_to_trim()), (10, None));
}

#[test]
fn idle_stacks_of_all_sizes_are_trimmed_some_at_a_time() {
    let pool = StackPool::builder().keep(0..=100_000).idle(Duration::ZERO).build();
    for size in [SMALLEST_CLASS, SIZE] {
        let stacks: Vec<_> = (0..600).map(|_| pool.acquire(size).expect("a stack")).collect();
        drop(stacks);
    }
    let counts: Vec<_> = (0..5).map(|_| pool.trim_idle()).collect();
    assert_eq!(counts, [0, 512, 512, 176, 0]);
}

#[test]
fn nothing_is_to_trim_while_only_stacks_to_keep_are_unused() {
    let pool = StackPool::builder().keep(10..=100).idle(Duration::ZERO).build();
    let mut stacks = acquire(&pool, 12);
    stacks.truncate(2);
    assert_eq!((pool.stats().pooled, pool.time_to_trim()), (10, None));
    stacks.truncate(1);
    assert_eq!((pool.stats().pooled, pool.time_to_trim()), (11, Some(Duration::ZERO)));
}

#[test]
fn stacks_above_the_most_to_keep_are_given_back_at_once() {
    let pool = StackPool::builder().keep(5..=50).build();
    drop(acquire(&pool, 1000));
    let pooled = pool.stats().pooled;
    assert!((5..=50).contains(&pooled), "{pooled}");
}

#[test]
fn neighbours_have_different_colours_and_most_of_a_page() {
    let pool = StackPool::new();
    let stacks = acquire(&pool, 16);
    let mut offsets: Vec<_> = stacks.iter().map(|stack| stack.top().addr().get() % PAGE).collect();
    offsets.sort_unstable();
    offsets.dedup();
    assert_eq!(offsets.len(), 16);
    let first_page = |offset: &usize| if *offset == 0 { PAGE } else { *offset };
    assert!(offsets.iter().map(first_page).all(|left| left >= PAGE / 2), "{offsets:?}");
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn the_high_water_mark_follows_the_use() {
    #[inline(never)]
    fn dive(depth: usize) -> usize {
        let frame = std::hint::black_box([1_u8; 1024]);
        if depth == 0 { frame.len() } else { std::hint::black_box(dive(depth - 1)) + 1 }
    }
    let pool = StackPool::new();
    let mut stack = pool.acquire(512 * 1024).expect("a stack");
    assert_eq!(high_water(&stack), 0);
    for (depth, range) in [(20, 20_000..60_000), (100, 100_000..300_000), (1, 1_000..20_000)] {
        clear_used(&mut stack);
        let mut diver = Coroutine::<(), (), usize, _>::new(stack, move |_, ()| dive(depth));
        diver.resume(());
        let mark = high_water(diver.stack());
        assert!(range.contains(&mark), "depth {depth}: {mark}");
        stack = diver.into_stack().expect("done");
    }
}
