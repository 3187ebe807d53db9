//! A plain task pool: counts the primes below a number by halving the range until it is small.

use sinew_sched::{Context, Placement, Pool, TaskRef};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ranges of at most this length are counted; longer ones are halved.
const SMALL: u32 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let below = std::env::args().nth(1).map_or(Ok(1_000_000), |argument| argument.parse())?;
    println!("{} primes below {below}", primes(below)?);
    Ok(())
}

/// Returns the number of primes below a number.
pub fn primes(below: u32) -> Result<usize, Box<dyn Error>> {
    let pool = Pool::builder().build()?;
    let found = Arc::new(AtomicUsize::new(0));
    let sum = found.clone();
    pool.handle().submit(TaskRef::new(move |context| count(context, 0, below, &sum)), Placement::Anyone)?;
    // A drain waits for all tasks, including those that tasks submit.
    let report = pool.shutdown(None);
    assert!(report.drained, "{report:?}");
    Ok(found.load(Ordering::Relaxed))
}

/// Counts the primes of a range. While the range is long, submits its upper half as a task.
fn count(context: &Context<'_>, from: u32, to: u32, sum: &Arc<AtomicUsize>) {
    let mut to = to;
    while to - from > SMALL {
        let middle = from + (to - from) / 2;
        let (upper, copy) = (to, sum.clone());
        context.submit(TaskRef::new(move |context| count(context, middle, upper, &copy)));
        to = middle;
    }
    sum.fetch_add((from..to).filter(|&number| is_prime(number)).count(), Ordering::Relaxed);
}

fn is_prime(number: u32) -> bool {
    number >= 2
        && (2..)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| !number.is_multiple_of(divisor))
}
