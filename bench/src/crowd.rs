//! Crowds: a number of fibers, or of what a peer has in their place, call the same function at
//! once, each with its number, and the caller waits for all. This file does not know what the
//! function does.

use may::go;
use sinew::fiber;
use std::future::Future;
use std::thread;

/// Runs a crowd of our fibers, from the calling fiber.
pub(crate) fn fibers(count: usize, work: impl Fn(usize) + Clone + Send + 'static) {
    let spawn = |number| {
        let work = work.clone();
        fiber::spawn(move || work(number))
    };
    let fibers: Vec<_> = (0..count).map(spawn).collect();
    fibers.into_iter().for_each(|fiber| fiber.join().expect("it does not panic"));
}

/// Runs a crowd of may's coroutines, from the calling coroutine.
pub(crate) fn coroutines(count: usize, work: impl Fn(usize) + Clone + Send + 'static) {
    let spawn = |number| {
        let work = work.clone();
        go!(move || work(number))
    };
    let coroutines: Vec<_> = (0..count).map(spawn).collect();
    coroutines.into_iter().for_each(|coroutine| coroutine.join().expect("it does not panic"));
}

/// Runs a crowd of tokio's tasks, from the calling task.
pub(crate) async fn tasks<W: Future<Output = ()> + Send + 'static>(count: usize, work: impl Fn(usize) -> W) {
    let tasks: Vec<_> = (0..count).map(|number| tokio::spawn(work(number))).collect();
    for task in tasks {
        task.await.expect("it does not panic");
    }
}

/// Runs a crowd of threads, from the calling thread.
pub(crate) fn threads(count: usize, work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        let work = &work;
        (0..count).for_each(|number| {
            scope.spawn(move || work(number));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::{coroutines, fibers, tasks, threads};
    use crate::runtimes;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Checks that each number below ten has come once.
    fn check(seen: &AtomicU64) {
        assert_eq!(seen.swap(0, Ordering::Relaxed), 1_111_111_111);
    }

    fn mark(seen: &AtomicU64, number: usize) {
        seen.fetch_add(10_u64.pow(number as u32), Ordering::Relaxed);
    }

    #[test]
    fn each_number_comes_once() {
        let seen = Arc::new(AtomicU64::new(0));
        threads(10, |number| mark(&seen, number));
        check(&seen);
        let shared = seen.clone();
        let runtime = sinew::Runtime::builder().workers(2).start().expect("a runtime");
        runtime.run(move || fibers(10, move |number| mark(&shared, number)));
        check(&seen);
        let shared = seen.clone();
        runtimes::may(2).run(move || coroutines(10, move |number| mark(&shared, number)));
        check(&seen);
        let shared = seen.clone();
        runtimes::in_tokio(&runtimes::tokio(2), async move {
            let one = |number| {
                let shared = shared.clone();
                async move { mark(&shared, number) }
            };
            tasks(10, one).await;
        });
        check(&seen);
    }
}
