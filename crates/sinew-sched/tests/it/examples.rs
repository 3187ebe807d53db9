//! The examples do what they say.

#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/primes.rs"]
mod primes;

#[test]
fn primes_are_counted() {
    assert_eq!(primes::primes(100_000).unwrap(), 9_592);
    assert_eq!(primes::primes(0).unwrap(), 0);
}
