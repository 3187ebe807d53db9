#![allow(unsafe_code, clippy::all, reason = "scratch")]
//! Yields.
use std::time::Instant;
use sinew::fiber;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let moves = std::env::args().nth(2).is_some();
    let b = sinew::Runtime::builder().workers(1);
    let b = if moves { unsafe { b.assume_migration_safe() } } else { b };
    let rt = b.start().unwrap();
    let per = 100_000 / n;
    for _ in 0..1 {
    let t = Instant::now();
    rt.run(move || {
        let f: Vec<_> = (0..n).map(|_| fiber::spawn(move || for _ in 0..per { fiber::yield_now() })).collect();
        f.into_iter().for_each(|f| f.join().unwrap());
    });
    println!("{n} fibers {moves}: {:.1} ns", t.elapsed().as_nanos() as f64 / 1e5);
    }
}
