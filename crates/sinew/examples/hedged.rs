//! A hedged request: if no answer has come after a while, a second server is asked too, and the slower of the two is cancelled.

use sinew::{fiber, time};
use std::io;
use std::panic::resume_unwind;
use std::time::Duration;

fn main() -> io::Result<()> {
    // Without an answer by then, both attempts end, and so does this.
    let patience = Duration::from_secs(10);
    let answer = time::timeout(patience, || hedged(Duration::from_millis(20), ask))?;
    println!("{answer}");
    Ok(())
}

/// Asks server 0, and server 1 too if there is no answer after a while, or the first has failed. The first answer counts; if there is none,
/// the error of the second.
pub fn hedged<T: Send>(delay: Duration, ask: impl Fn(usize) -> io::Result<T> + Sync) -> io::Result<T> {
    let ask = &ask;
    fiber::try_scope(|scope| {
        // Whoever has an answer stops the other, where that waits.
        let attempt =
            move |server| ask(server).inspect(|_| scope.cancel_with_reason("the other server has answered"));
        // Cancelling reaches the fibers of a scope by itself; a deadline that is around us does on request.
        let builder = fiber::Builder::new().name("first attempt".to_owned()).inherit_deadline();
        let first = builder.spawn_scoped(scope, move || attempt(0))?;
        match first.join_timeout(delay) {
            Ok(end) => outcome(end).or_else(|_| attempt(1)),
            Err(first) => {
                // The body of such a scope is cancelled with its fibers, so it can be one of the attempts.
                let second = attempt(1);
                outcome(first.join()).or(second)
            }
        }
    })
}

fn outcome<T>(end: fiber::Result<io::Result<T>>) -> io::Result<T> {
    end.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A request that takes its time, as server 0 does here.
fn ask(server: usize) -> io::Result<String> {
    let takes = if server == 0 { Duration::from_secs(3_600) } else { Duration::from_millis(5) };
    time::sleep_cancellable(takes).inspect_err(|stopped| println!("{stopped}"))?;
    Ok(format!("server {server} has answered"))
}
