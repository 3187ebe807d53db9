//! Fibers that spawn, join, yield, park and sleep.
use sinew::fiber;
use std::time::{Duration, Instant};
fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let a = fiber::spawn(move || fib(n - 1));
    let b = fib(n - 2);
    a.join().unwrap() + b
}
fn main() {
    let t = Instant::now();
    println!("fib {}", sinew::run(|| fib(24)));
    println!("{:?}", t.elapsed());
    sinew::run(|| {
        let me = fiber::current();
        let other = fiber::spawn(move || {
            fiber::sleep(Duration::from_millis(5));
            me.unpark();
        });
        fiber::park();
        other.join().unwrap();
        let mut data = vec![1, 2, 3];
        fiber::scope(|s| {
            for x in &mut data {
                s.spawn(move || *x += 1);
            }
        });
        println!("{data:?}");
        let fibers: Vec<_> = (0..1000)
            .map(|n| {
                fiber::spawn(move || {
                    for _ in 0..100 {
                        fiber::yield_now()
                    }
                    n
                })
            })
            .collect();
        println!("{}", fibers.into_iter().map(|f| f.join().unwrap()).sum::<i32>());
    });
    println!("{:?}", t.elapsed());
}
