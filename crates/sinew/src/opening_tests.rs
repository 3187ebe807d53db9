//! Tests of unparks and cancels that arrive while a wait begins: after other threads can end it,
//! and before the fiber checks whether it is cancelled.

use std::time::Duration;

use crate::Runtime;
use crate::fiber::{self, CancelToken, Fiber};
use crate::rt::opening;

/// The effect of an unpark.
#[derive(Debug, PartialEq, Eq)]
enum Unpark {
    /// It ended the park.
    Used,
    /// The park was cancelled, and the next one has a token.
    Kept,
    /// The park was cancelled, and the next one has no token.
    Lost,
}

/// Parks inside a cancel token, while `arrive` unparks and cancels.
fn park(arrive: impl FnOnce(&Fiber, &CancelToken) + Send + 'static) -> Unpark {
    let runtime = Runtime::builder().workers(1).start().unwrap();
    let unpark = runtime.run(|| {
        let (token, fiber) = (CancelToken::new(), fiber::current());
        let cancel = token.clone();
        opening::set(move || arrive(&fiber, &cancel));
        let is_unparked = token.run(fiber::park_cancellable).is_ok();
        assert!(token.run(fiber::park_cancellable).is_err(), "it is cancelled");
        // A park that finds a token opens no wait.
        let waits = || fiber::current().inner().control().unwrap().word.waits();
        let before = waits();
        fiber::park_timeout(Duration::from_millis(1));
        match (is_unparked, waits() == before) {
            (true, false) => Unpark::Used,
            (false, true) => Unpark::Kept,
            (false, false) => Unpark::Lost,
            (true, true) => unreachable!("one unpark ended two parks"),
        }
    });
    assert!(runtime.shutdown(None).drained);
    unpark
}

/// The unpark ends the wait and is used up. The fiber then finds that it is cancelled, but the park
/// must report the unpark.
#[test]
fn an_unpark_that_ends_a_wait_is_not_lost_to_a_cancel() {
    let unpark = park(|fiber, token| {
        fiber.unpark();
        token.cancel();
    });
    assert_eq!(unpark, Unpark::Used);
}

/// The cancel ends the wait: the unpark is kept for the next park.
#[test]
fn an_unpark_after_a_cancel_is_kept() {
    let unpark = park(|fiber, token| {
        token.cancel();
        fiber.unpark();
    });
    assert_eq!(unpark, Unpark::Kept);
}
