//! The examples do what they say.

#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/collatz.rs"]
mod collatz;
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
