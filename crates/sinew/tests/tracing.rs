//! With the feature `tracing`, a fiber that suspends takes the spans along that it has entered. A
//! program of its own: the subscriber is that of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sinew::{Runtime, fiber};
use tracing::{Level, Span, span};
use tracing_subscriber::Registry;

/// The name of the span that the caller is in.
fn current() -> Option<&'static str> {
    Span::current().metadata().map(tracing::Metadata::name)
}

fn runtimes() -> impl Iterator<Item = Runtime> {
    tracing::subscriber::set_global_default(Registry::default()).ok();
    [1, 2, 8].into_iter().map(|workers| Runtime::builder().workers(workers).start().unwrap())
}

#[test]
fn spans_stay_with_their_fiber() {
    for runtime in runtimes() {
        let most_at_once = Arc::new(AtomicUsize::new(0));
        let fibers: Vec<_> = (0..100)
            .map(|_| {
                let inside = most_at_once.clone();
                runtime.spawn(move || {
                    assert_eq!(current(), None);
                    let (outer, inner) = (span!(Level::INFO, "outer"), span!(Level::INFO, "inner"));
                    let _outer = outer.enter();
                    fiber::yield_now();
                    assert_eq!(current(), Some("outer"));
                    {
                        let _inner = inner.enter();
                        inside.fetch_add(1, Ordering::Relaxed);
                        // The same once more, as a function that calls itself may do.
                        let _again = outer.enter();
                        fiber::sleep(std::time::Duration::from_millis(1));
                        inside.fetch_sub(1, Ordering::Relaxed);
                    }
                    assert_eq!(current(), Some("outer"));
                    fiber::yield_now();
                    assert_eq!(current(), Some("outer"));
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap();
        }
    }
}

/// Entering another fiber without a switch in between is no exception, and neither is the end of
/// one that has never left its span.
#[test]
fn spans_do_not_leak_to_others() {
    for runtime in runtimes() {
        runtime.run(|| {
            let span = span!(Level::INFO, "mine");
            let _entered = span.enter();
            for _ in 0..100 {
                let child = fiber::spawn(|| {
                    let kept = current();
                    std::mem::forget(span!(Level::INFO, "leaked").entered());
                    kept
                });
                assert_eq!(child.join().unwrap(), None);
                assert_eq!(current(), Some("mine"));
            }
        });
    }
}

#[test]
fn a_span_that_is_left_stays_left() {
    for runtime in runtimes() {
        runtime.run(|| {
            span!(Level::INFO, "short").in_scope(fiber::yield_now);
            assert_eq!(current(), None);
            fiber::yield_now();
            assert_eq!(current(), None);
        });
    }
}
