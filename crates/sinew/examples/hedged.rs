//! A hedged request: if no answer has arrived after a while, a second server is asked too, and the
//! slower of the two is cancelled.

use sinew::{fiber, time};
use std::io;
use std::panic::resume_unwind;
use std::time::Duration;

fn main() -> io::Result<()> {
    // If no answer has arrived by then, both attempts end, and so does this call.
    let patience = Duration::from_secs(10);
    let answer = time::timeout(patience, || hedged(Duration::from_millis(20), ask))?;
    println!("{answer}");
    Ok(())
}

/// Asks server 0, and also server 1 if no answer arrives within `delay` or the first attempt fails.
/// Returns the first answer, or the error of the second attempt if there is none.
pub fn hedged<T: Send>(delay: Duration, ask: impl Fn(usize) -> io::Result<T> + Sync) -> io::Result<T> {
    let ask = &ask;
    fiber::try_scope(|scope| {
        // The attempt that has an answer cancels the other one.
        let attempt =
            move |server| ask(server).inspect(|_| scope.cancel_with_reason("the other server has answered"));
        // The fibers of a scope inherit its deadline and its cancellation.
        let builder = fiber::Builder::new().name("first attempt".to_owned());
        let first = builder.spawn_scoped(scope, move || attempt(0))?;
        match first.join_timeout(delay) {
            Ok(end) => outcome(end).or_else(|_| attempt(1)),
            Err(first) => {
                // A cancel of this scope also cancels its body, so the body can be one of the
                // attempts.
                let second = attempt(1);
                outcome(first.join()).or(second)
            }
        }
    })
}

fn outcome<T>(end: fiber::Result<io::Result<T>>) -> io::Result<T> {
    end.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Simulates a request. Server 0 does not answer in time.
fn ask(server: usize) -> io::Result<String> {
    let takes = if server == 0 { Duration::from_secs(3_600) } else { Duration::from_millis(5) };
    time::sleep_cancellable(takes).inspect_err(|stopped| println!("{stopped}"))?;
    Ok(format!("server {server} has answered"))
}
