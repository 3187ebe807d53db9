//! `list`: everything is in it, whatever this machine has.

use crate::bench;

#[test]
fn workloads_and_peers_are_listed() {
    let outcome = bench(["list"]);
    assert_eq!(outcome.code, Some(0));
    for word in
        ["switch", "create", "ns one way", "sinew", "corosensei", "swapcontext", "boost", "go", "java"]
    {
        assert!(outcome.stdout.contains(word), "{word} is not in {}", outcome.stdout);
    }
}
