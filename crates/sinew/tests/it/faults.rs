//! When things go wrong.
//!
//! # Safety
//!
//! Limits processes of its own.
#![expect(unsafe_code, reason = "limits are set")]

use super::support::{child, everywhere, in_child, is_child, is_emulated, stderr};
use sinew::coroutine::{Coroutine, MmapStack};
use sinew::{Runtime, fiber};
use std::hint::black_box;
use std::panic::catch_unwind;
use std::process::Stdio;
use std::time::Duration;

fn recurse(depth: usize) -> usize {
    let frame = black_box([depth; 64]);
    if depth == 0 { 0 } else { recurse(depth - 1) + black_box(frame)[0] }
}

/// The reader of standard error is gone, so the panic hook cannot write its message. That must not
/// be a second panic, which would end the process.
#[test]
fn a_panic_that_nobody_reads_of_comes_out_of_join() {
    const NAME: &str = "faults::a_panic_that_nobody_reads_of_comes_out_of_join";
    if is_child() {
        in_child(NAME, || sinew::run(|| assert!(fiber::spawn(|| panic!("unheard")).join().is_err())));
    }
    let mut child = child(NAME).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_overflow_names_the_fiber() {
    let output = in_child("faults::an_overflow_names_the_fiber", || {
        sinew::run(|| {
            let deep = fiber::Builder::new().stack_size(32 * 1024).name("deep".to_owned());
            drop(deep.spawn(|| recurse(1_000_000)).unwrap().join());
        });
    });
    let text = stderr(&output);
    assert!(!output.status.success());
    assert!(text.contains("stack overflow in fiber 'deep' ("), "{text}");
    assert!(text.contains("made at ") && text.contains("faults.rs:"), "{text}");
    assert!(text.contains("SINEW_STACK_SIZE"), "{text}");
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    for (builder, hint) in [
        (Runtime::builder().workers(0), "`workers` is 0: it has to be 1 to 65536"),
        (Runtime::builder().workers(65_537), "1 to 65536"),
        (Runtime::builder().groups([]), "groups"),
        (Runtime::builder().stack_size(128), "16384 bytes at least"),
        (Runtime::builder().stack_size(65 << 20), "67108864 at most"),
        (Runtime::builder().workers(1).name("a\0b"), "zero byte"),
    ] {
        let error = builder.start().unwrap_err();
        assert!(error.to_string().contains(hint), "{error}");
    }
}

#[test]
fn a_variable_that_makes_no_sense_is_an_error() {
    let output = in_child("faults::a_variable_that_makes_no_sense_is_an_error", || {
        // SAFETY: this process has no other thread that reads it now.
        let set = |name, value| unsafe { std::env::set_var(name, value) };
        for value in ["many", "", "0", "65537"] {
            set("SINEW_WORKERS", value);
            let error = Runtime::builder().start().unwrap_err().to_string();
            assert!(error.contains("SINEW_WORKERS") && error.contains("1 to 65536"), "{error}");
        }
        set("SINEW_WORKERS", "64");
        assert_eq!(Runtime::builder().start().unwrap().workers(), 64);
        set("SINEW_WORKERS", " 3 ");
        for value in ["128", "64 sheep", "k", "67108865", "65M", "99999999999G"] {
            set("SINEW_STACK_SIZE", value);
            let error = Runtime::builder().start().unwrap_err().to_string();
            assert!(error.contains("SINEW_STACK_SIZE") && error.contains("67108864"), "{error}");
            assert!(error.contains("128k"), "{error}");
        }
        for (value, size) in [("65536", 65_536), ("64k", 65_536), ("128 KiB", 131_072), ("1M", 1 << 20)] {
            set("SINEW_STACK_SIZE", value);
            let runtime = Runtime::builder().start().unwrap();
            assert_eq!((runtime.workers(), runtime.run(fiber::current).stack_size()), (3, Some(size)));
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Messages name the variables, not the settings in code that they stand for.
#[test]
fn errors_of_the_environment_name_its_variables() {
    let output = in_child("faults::errors_of_the_environment_name_its_variables", || {
        // SAFETY: this process has no other thread that reads it now.
        let set = |name, value| unsafe { std::env::set_var(name, value) };
        set("SINEW_CONCURRENCY", "999999999");
        let error = Runtime::builder().start().unwrap_err().to_string();
        assert!(error.contains("999999999") && error.contains("SINEW_CONCURRENCY"), "{error}");
        set("SINEW_CONCURRENCY", "2");
        set("SINEW_WORKERS", "2");
        let error = Runtime::builder().start().unwrap_err().to_string();
        assert!(error.contains("`SINEW_CONCURRENCY` in place of `SINEW_WORKERS`"), "{error}");
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn unknown_variables_are_told_of_once() {
    let output = child("faults::unknown_variables_are_told_of_in_a_child")
        .envs([("SINEW_WORKER", "3"), ("SINEW_STACKSIZE", "64k"), ("SINEW_ZEBRA", ""), ("SINEWY", "1")])
        .output()
        .unwrap();
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.contains("no such setting")).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].contains("SINEW_STACKSIZE") && lines[0].contains("did you mean SINEW_STACK_SIZE?"),
        "{text}"
    );
    assert!(lines[1].contains("SINEW_WORKER ") && lines[1].contains("did you mean SINEW_WORKERS?"), "{text}");
    assert!(lines[2].contains("SINEW_ZEBRA") && lines[2].ends_with("setting"), "{text}");
}

#[test]
fn unknown_variables_are_told_of_in_a_child() {
    for _ in 0..2 {
        assert!(Runtime::builder().workers(1).start().unwrap().shutdown(None).drained);
    }
}

#[test]
fn more_workers_than_a_group_has_are_in_several() {
    let runtime = Runtime::builder().workers(130).start().unwrap();
    assert_eq!((runtime.workers(), runtime.groups()), (130, 3));
    assert_eq!(
        (0..3).map(|group| runtime.group_size(group)).collect::<Vec<_>>(),
        [Some(44), Some(43), Some(43)]
    );
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn a_default_runtime_that_does_not_start_is_a_panic_of_the_caller() {
    let output = in_child("faults::a_default_runtime_that_does_not_start_is_a_panic_of_the_caller", || {
        // SAFETY: this process has no other thread that reads it now.
        unsafe { std::env::set_var("SINEW_WORKERS", "none") };
        let needs: [fn(); 7] = [
            || sinew::run(|| ()),
            || drop(fiber::spawn(|| ())),
            || drop(fiber::Builder::new().spawn(|| ())),
            || fiber::scope(|scope| drop(scope.spawn(|| ()))),
            || drop(fiber::spawn_batch([|| ()])),
            || drop(sinew::time::after(Duration::ZERO, || ())),
            || drop(sinew::runtime::Handle::current()),
        ];
        for need in needs {
            catch_unwind(need).unwrap_err();
        }
    });
    let text = stderr(&output);
    assert!(text.contains("the default runtime did not start: SINEW_WORKERS is \"none\""), "{text}");
    let places: Vec<_> = text.lines().filter(|line| line.contains("panicked at")).collect();
    assert_eq!(places.len(), 7, "{text}");
    assert!(places.iter().all(|place| place.contains("it/faults.rs:")), "{text}");
}

#[test]
fn a_process_may_end_with_live_fibers() {
    let output = in_child("faults::a_process_may_end_with_live_fibers", || {
        for _ in 0..100 {
            drop(fiber::spawn(|| {
                loop {
                    fiber::sleep(Duration::from_micros(10));
                }
            }));
        }
        drop(fiber::spawn(fiber::park));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The sanitizers need address space of their own.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn without_a_stack_a_fiber_waits_for_one_and_that_is_told() {
    if is_emulated() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    let output = in_child("faults::without_a_stack_a_fiber_waits_for_one_and_that_is_told", || {
        let runtime = Runtime::builder().workers(1).stack_size(64 << 20).start().unwrap();
        let limit = libc::rlimit { rlim_cur: 4 << 30, rlim_max: 4 << 30 };
        // SAFETY: lowers a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let sum: usize = runtime.run(|| {
            let fibers: Vec<_> = (0..200)
                .map(|number| {
                    fiber::spawn(move || {
                        fiber::sleep(Duration::from_millis(1));
                        number
                    })
                })
                .collect();
            fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum()
        });
        assert_eq!(sum, 19_900);
        assert!(runtime.shutdown(None).drained);
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("no stack to begin on"), "{text}");
}

#[test]
fn a_fiber_may_wait_inside_a_coroutine_of_its_own() {
    everywhere(|| {
        let _stay = fiber::pin();
        let stack = MmapStack::new(256 * 1024).unwrap();
        let mut coroutine = Coroutine::<u32, u32, u32>::new(stack, |suspender, first| {
            fiber::sleep(Duration::from_micros(100));
            let second = suspender.suspend(first + 1);
            fiber::yield_now();
            fiber::spawn(move || second + 1).join().unwrap()
        });
        assert_eq!(coroutine.resume(1).yielded(), Some(2));
        fiber::yield_now();
        assert_eq!(coroutine.resume(5).complete(), Some(6));
    });
}
