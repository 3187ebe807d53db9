//! Fiber-locals that the global allocator uses. A program of its own, since there is one such
//! allocator.
//!
//! # Safety
//!
//! Trusted with an allocator that passes everything on to the system's.
#![expect(unsafe_code, reason = "an allocator")]

use sinew::{Runtime, Strategy, fiber, fiber_local};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A number with a destructor.
struct Dropped(Cell<usize>);

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

fiber_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static WITH_DROP: Dropped = const { Dropped(Cell::new(0)) };
    // More than have a place in a table.
    static A: Cell<usize> = const { Cell::new(0) };
    static B: Cell<usize> = const { Cell::new(0) };
    static C: Cell<usize> = const { Cell::new(0) };
    static D: Cell<usize> = const { Cell::new(0) };
    static E: Cell<usize> = const { Cell::new(0) };
    static F: Cell<usize> = const { Cell::new(0) };
    static G: Cell<usize> = const { Cell::new(0) };
    static H: Cell<usize> = const { Cell::new(0) };
    static I: Cell<usize> = const { Cell::new(0) };
}

/// What the allocator does.
static MODE: AtomicUsize = AtomicUsize::new(QUIET);
/// Nothing.
const QUIET: usize = 0;
/// Counts, where there is something to count in.
const TRY: usize = 1;
/// Counts, come what may.
const INSIST: usize = 2;

struct Counting;

impl Counting {
    fn count() {
        let more = |count: &Cell<usize>| count.set(count.get() + 1);
        match MODE.load(Ordering::Relaxed) {
            TRY => {
                for key in [&COUNT, &A, &B, &C, &D, &E, &F, &G, &H, &I] {
                    let _ = key.try_with(more);
                }
                let _ = WITH_DROP.try_with(|count| more(&count.0));
            }
            INSIST => COUNT.with(more),
            _ => {}
        }
    }
}

// SAFETY: all is up to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::count();
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const CHILD: &str = "SINEW_TEST_CHILD";

/// Runs `body` in a process of its own, whose allocator has this mode.
fn in_child(name: &str, mode: usize, body: impl FnOnce()) -> Output {
    if std::env::var_os(CHILD).is_some() {
        MODE.store(mode, Ordering::Relaxed);
        body();
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1").output().unwrap()
}

/// Allocates and frees `times` times, and yields in between. Returns how often the caller's count
/// went up meanwhile.
fn allocate(times: usize) -> usize {
    let before = COUNT.get();
    for number in 0..times {
        drop(std::hint::black_box(Box::new(number)));
        fiber::yield_now();
    }
    COUNT.get() - before
}

fn check(runtime: &Runtime) {
    let counts: Vec<_> = (0..100).map(|times| runtime.spawn(move || allocate(times))).collect();
    for (times, fiber) in counts.into_iter().enumerate() {
        assert_eq!(fiber.join().unwrap(), 2 * times);
    }
    assert_eq!(thread::spawn(|| allocate(7)).join().unwrap(), 14);
}

#[test]
fn a_global_allocator_counts_for_each_fiber() {
    let output = in_child("a_global_allocator_counts_for_each_fiber", TRY, || {
        for (workers, strategy) in [1, 2].into_iter().flat_map(|count| Strategy::ALL.map(|it| (count, it))) {
            // SAFETY: the fibers hold nothing of their thread.
            for builder in [Runtime::builder(), unsafe { Runtime::builder().assume_migration_safe() }] {
                let runtime = builder.workers(workers).strategy(strategy).start().unwrap();
                check(&runtime);
                assert!(runtime.shutdown(None).drained);
            }
        }
        // Fibers and threads: each had one.
        assert!(DROPPED.load(Ordering::Relaxed) >= 8 * 101);
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// There is no value any more when the last of a fiber or thread is freed.
#[test]
fn an_allocator_that_insists_on_a_value_aborts_and_says_where() {
    let output = in_child("an_allocator_that_insists_on_a_value_aborts_and_says_where", INSIST, || {
        check(&Runtime::builder().workers(1).start().unwrap());
    });
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("panicked at") && text.contains("local_alloc.rs"), "{text}");
}
