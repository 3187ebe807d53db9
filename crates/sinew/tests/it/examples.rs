//! The examples do what they say.

use super::support::{everywhere, pinned};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::time;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Never over, as far as a test is concerned.
const HOUR: Duration = Duration::from_secs(3_600);

#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/collatz.rs"]
mod collatz;
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/hedged.rs"]
mod hedged;
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/wordcount.rs"]
mod wordcount;

#[test]
fn the_longest_chain_is_found() {
    assert_eq!(collatz::longest(100_000).unwrap(), (351, 77_031));
    assert_eq!(collatz::longest(2).unwrap(), (1, 1));
    assert!(collatz::longest(0).is_err());
}

#[test]
fn words_are_counted() {
    let counts = wordcount::count(&"One two, two.\n".repeat(10_000));
    assert_eq!((counts["one"], counts["two"], counts.len()), (10_000, 20_000, 2));
    assert!(wordcount::count("").is_empty());
}

#[test]
fn the_second_is_asked_if_the_first_does_not_answer() {
    everywhere(the_slower_is_cancelled);
    // It watches over the test.
    let _watched = pinned(1);
    the_slower_is_cancelled();
}

fn the_slower_is_cancelled() {
    // The first has no answer before the second is asked.
    for winner in [0, 1] {
        let (both, stopped) = (CancelToken::new(), Mutex::new(None));
        let answer = hedged::hedged(Duration::ZERO, |server| {
            if server == 1 {
                both.cancel();
            }
            if server == winner {
                both.wait();
                return Ok(server);
            }
            let error = time::sleep_cancellable(HOUR).unwrap_err();
            *stopped.lock().unwrap() = Some(error.clone());
            Err(error.into())
        });
        assert_eq!(answer.unwrap(), winner);
        let stopped: Option<Stopped> = stopped.into_inner().unwrap();
        assert_eq!(stopped.unwrap().reason(), Some("the other server has answered"));
    }
}

#[test]
fn the_second_is_not_asked_for_nothing() {
    everywhere(|| {
        assert_eq!(hedged::hedged(HOUR, Ok).unwrap(), 0);
        let fail_first = |server| if server == 0 { Err(io::Error::other("it is down")) } else { Ok(server) };
        assert_eq!(hedged::hedged(HOUR, fail_first).unwrap(), 1);
        let both = hedged::hedged(HOUR, |server| Err::<(), _>(io::Error::other(server.to_string())));
        assert_eq!(both.unwrap_err().to_string(), "1");
    });
}

#[test]
fn hedged_requests_end_with_their_deadline() {
    everywhere(|| {
        let nobody = || hedged::hedged(HOUR, |_| Ok(time::sleep_cancellable(HOUR)?));
        let error = fiber::with_deadline(Instant::now(), nobody).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    });
}
