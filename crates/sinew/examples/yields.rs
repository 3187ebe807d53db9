#![allow(unsafe_code, clippy::all, missing_docs, reason = "scratch")]
use sinew::fiber;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let moves = std::env::args().nth(2).is_some_and(|a| a == "m");
    let total: usize = std::env::args().nth(3).map_or(5_000_000, |s| s.parse().unwrap());
    let b = sinew::Runtime::builder().workers(1);
    let b = if moves { unsafe { b.assume_migration_safe() } } else { b };
    let rt = b.start().unwrap();
    let per = total / n;
    let mut best = f64::MAX;
    for _ in 0..5 {
        let t = Instant::now();
        rt.run(move || {
            let f: Vec<_> = (0..n)
                .map(|_| {
                    fiber::spawn(move || {
                        for _ in 0..per {
                            fiber::yield_now()
                        }
                    })
                })
                .collect();
            f.into_iter().for_each(|f| f.join().unwrap());
        });
        best = best.min(t.elapsed().as_nanos() as f64 / total as f64);
    }
    println!("{n} fibers {moves}: {best:.1} ns");
}
