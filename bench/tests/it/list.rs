//! `list`: shows everything, whatever this machine has.

use crate::bench;

#[test]
fn workloads_and_peers_are_listed() {
    let outcome = bench(["list"]);
    assert_eq!(outcome.code, Some(0));
    let workloads =
        ["switch", "create", "pool_submit", "pool_yield", "pool_wake", "pool_idle", "1 and 2 threads"];
    let fibers =
        ["yield", "spawn_seq", "spawn_batch_100k", "skynet_join", "skynet", "fib", "parked", "wake", "idle"];
    let locks = ["lock", "mutex", "mutex_yield", "condvar", "rwlock"];
    let channels = ["chan", "pingpong", "mpsc", "mpmc", "select8"];
    let peers =
        ["sinew", "corosensei", "swapcontext", "tokio", "may", "rayon", "threads", "boost", "go", "java"];
    let for_threads = ["parking_lot", "crossbeam"];
    let outside =
        ["blocking", "http", "http_c1000", "http_c10000", "http_busy", "epoll-raw", "epoll-busy", "tokio-ct"];
    let words =
        workloads.into_iter().chain(fibers).chain(locks).chain(channels).chain(["ns one way"]).chain(peers);
    for word in words.chain(for_threads).chain(outside) {
        assert!(outcome.stdout.contains(word), "{word} is not in {}", outcome.stdout);
    }
}
