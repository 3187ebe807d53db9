//! `run`: what it refuses, what it skips, and where it writes its results.

use crate::{Outcome, Scratch, bench, outcome, program};
use serde_json::Value;
use std::fs;

/// Runs a measurement as short as possible, of peers that are always available, with these further
/// arguments.
fn short_run(scratch: &Scratch, args: &[&str]) -> Outcome {
    let results = scratch.path().to_str().expect("a UTF-8 path");
    let fixed = ["run", "switch", "--peer", "corosensei", "--quick", "--reps", "2", "--results", results];
    bench(fixed.iter().chain(args))
}

fn fields(line: &str) -> Vec<(String, Value)> {
    let line: serde_json::Map<String, Value> = serde_json::from_str(line).expect("a line is a JSON object");
    line.into_iter().collect()
}

#[test]
fn an_unknown_workload_exits_with_2_and_help() {
    let outcome = bench(["run", "swicth"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stdout.is_empty());
    assert!(outcome.stderr.contains("a similar value exists: 'switch'"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("[possible values: switch, create"), "{}", outcome.stderr);
}

#[test]
fn an_unknown_peer_exits_with_2_and_help() {
    let outcome = bench(["run", "switch", "--peer", "swapcontexts"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("a similar value exists: 'swapcontext'"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("sinew, sinew-migrating, sinew-shared,"), "{}", outcome.stderr);
}

#[test]
fn what_does_not_apply_is_skipped() {
    let scratch = Scratch::new("skip");
    let outcome = short_run(&scratch, &["--threads", "2", "--json", "-"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("skipped: switch with 2 threads"), "{}", outcome.stderr);
}

#[test]
fn a_dash_leaves_standard_output_to_json() {
    let scratch = Scratch::new("dash");
    let outcome = short_run(&scratch, &["--peer", "sinew", "--json", "-"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let lines: Vec<_> = outcome.stdout.lines().map(fields).collect();
    assert_eq!(lines.len(), 2 * 3);
    for line in &lines {
        let get = |name: &str| line.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
        assert_eq!(get("workload"), Some("switch".into()));
        assert_eq!(get("threads"), Some(1.into()));
        assert_eq!(get("metric"), Some("ns".into()));
        assert_eq!(get("n"), Some(2.into()));
        assert_eq!(get("quick"), Some(true.into()));
        assert!(get("value").is_some_and(|value| value.is_f64()));
    }
    assert!(
        outcome
            .stdout
            .starts_with(r#"{"peer":"sinew","workload":"switch","threads":1,"metric":"ns","stat":"median","#)
    );
    assert!(outcome.stderr.contains("QUICK"), "{}", outcome.stderr);
}

#[test]
fn a_file_gets_the_lines_and_standard_output_the_table() {
    let scratch = Scratch::new("file");
    let file = scratch.path().join("lines.json");
    let outcome = short_run(&scratch, &["--json", file.to_str().expect("a UTF-8 path")]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("corosensei") && outcome.stdout.contains("median"), "{}", outcome.stdout);
    let lines = fs::read_to_string(file).expect("the file was written");
    assert_eq!(lines.lines().count(), 3);
    let kept = fs::read_to_string(scratch.path().join("latest.json")).expect("the run was kept");
    assert_eq!(kept, lines);
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_measuring() {
    let scratch = Scratch::new("unwritable");
    let outcome = short_run(&scratch, &["--json", "/no/such/directory/lines.json"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("/no/such/directory/lines.json"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("measuring"), "{}", outcome.stderr);
}

#[test]
fn a_child_beyond_its_time_is_reported_and_makes_the_run_fail() {
    let scratch = Scratch::new("limit");
    let outcome = short_run(&scratch, &["--limit", "0", "--json", "-"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("failed: switch with corosensei on 1 thread"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("took longer than 0ns"), "{}", outcome.stderr);
    assert!(!scratch.path().join("latest.json").exists());
}

/// Makes one measurement of a millisecond, and reads its headline.
fn measures(workload: &str, peer: &str, threads: &str, headline: &str) {
    let outcome = bench(["one", workload, peer, threads, "millis=1"]);
    assert_eq!(outcome.code, Some(0), "{workload} {peer}: {}", outcome.stderr);
    let line = outcome.stdout.lines().find_map(|line| line.strip_prefix(headline));
    let value = line.and_then(|value| value.trim().parse::<f64>().ok());
    assert!(value.is_some_and(f64::is_finite), "{workload} {peer}: {}", outcome.stdout);
}

#[test]
fn every_peer_that_is_built_in_yields_its_metric() {
    for workload in ["switch", "create"] {
        for peer in ["sinew", "corosensei", "generator", "swapcontext"] {
            measures(workload, peer, "1", "ns ");
        }
    }
}

#[test]
fn every_pool_that_is_built_in_yields_its_metric() {
    let (all, some): (&[_], &[_]) = (&["sinew", "tokio", "rayon"], &["sinew", "tokio"]);
    let workloads = [
        ("pool_submit", "ns ", all),
        ("pool_yield", "ns ", some),
        ("pool_wake", "p50_us ", some),
        ("pool_idle", "cpu_ms ", all),
    ];
    for (workload, headline, peers) in workloads {
        for peer in peers {
            for threads in ["1", "3"] {
                measures(workload, peer, threads, headline);
            }
        }
    }
}

#[test]
fn every_runtime_of_fibers_that_is_built_in_yields_its_metric() {
    let workloads: [(_, _, &[_]); 8] = [
        ("yield", "ns ", &["sinew", "sinew-migrating", "tokio", "may"]),
        ("spawn_seq", "ns ", &["sinew", "sinew-migrating", "tokio", "may"]),
        ("spawn_batch_100k", "ns ", &["sinew", "sinew-migrating", "tokio", "may", "rayon"]),
        ("skynet_join", "ms ", &["sinew", "sinew-migrating", "tokio", "rayon"]),
        ("fib", "ns ", &["sinew", "sinew-migrating", "tokio", "may", "rayon"]),
        ("parked", "bytes ", &["sinew", "sinew-migrating", "tokio", "may", "faults"]),
        ("wake", "p50_us ", &["sinew", "sinew-migrating", "tokio", "may", "threads"]),
        ("idle", "cpu_ms ", &["sinew", "sinew-migrating", "tokio", "may"]),
    ];
    for (workload, headline, peers) in workloads {
        for peer in peers {
            for threads in ["1", "3"] {
                measures(workload, peer, threads, headline);
            }
        }
    }
}

#[test]
fn every_lock_that_is_built_in_yields_its_metric() {
    for peer in ["sinew", "tokio", "may", "threads", "parking_lot"] {
        measures("lock", peer, "1", "ns ");
    }
    for peer in ["sinew", "sinew-migrating", "tokio", "may", "threads"] {
        measures("condvar", peer, "1", "ns ");
    }
    let workloads: [(_, &[_]); 3] = [
        ("mutex", &["sinew", "sinew-migrating", "tokio", "may"]),
        ("mutex_yield", &["sinew", "sinew-migrating", "tokio", "may"]),
        ("rwlock", &["sinew", "sinew-migrating", "tokio", "threads", "parking_lot"]),
    ];
    for (workload, peers) in workloads {
        for peer in peers {
            for threads in ["1", "3"] {
                measures(workload, peer, threads, "ns ");
            }
        }
    }
}

#[test]
fn every_channel_that_is_built_in_yields_its_metric() {
    for peer in ["sinew", "tokio", "threads", "crossbeam"] {
        measures("chan", peer, "1", "ns ");
        measures("chan", peer, "1", "unbounded_ns ");
    }
    let workloads: [(_, _, &[_]); 5] = [
        ("pingpong", "ns ", &["sinew", "sinew-migrating", "tokio", "may"]),
        ("mpsc", "ns ", &["sinew", "sinew-migrating", "tokio", "may", "crossbeam"]),
        ("mpmc", "ns ", &["sinew", "sinew-migrating", "may", "crossbeam"]),
        ("select8", "ns ", &["sinew", "sinew-migrating", "tokio", "crossbeam"]),
        ("skynet", "ms ", &["sinew", "sinew-migrating", "tokio"]),
    ];
    for (workload, headline, peers) in workloads {
        for peer in peers {
            for threads in ["1", "3"] {
                measures(workload, peer, threads, headline);
            }
        }
    }
}

#[test]
fn every_call_that_may_block_yields_its_metric() {
    for peer in ["tokio", "threads"] {
        for threads in ["1", "3"] {
            measures("blocking", peer, threads, "ns ");
        }
    }
}

#[test]
fn requests_are_answered_while_another_worker_computes() {
    for peer in ["tokio", "may"] {
        measures("http_busy", peer, "2", "p99_us ");
        measures("http_busy", peer, "3", "quiet_p99_us ");
    }
}

/// Servers are measured by a client that the machine may lack. With one thread, each has a
/// processor of its own.
#[test]
fn every_server_that_is_built_in_yields_its_metrics() {
    let scratch = Scratch::new("http");
    let results = scratch.path().to_str().expect("a UTF-8 path");
    let run = ["run", "http", "--quick", "--reps", "1", "--json", "-", "--results", results];
    let peers = ["epoll-raw", "epoll-busy", "tokio", "tokio-ct", "may", "threads"];
    let outcome = bench(run.into_iter().chain(peers.iter().flat_map(|peer| ["--peer", peer])));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    if outcome.stdout.is_empty() {
        assert!(outcome.stderr.contains("skipped: http with all peers: "), "{}", outcome.stderr);
        return;
    }
    for metric in ["requests_per_s", "p50_us", "p99_us", "cpu_us"] {
        let with = |peer: &&str, line: &str| {
            line.contains(&format!(r#""peer":"{peer}""#)) && line.contains(&format!(r#""metric":"{metric}""#))
        };
        for peer in peers {
            assert!(
                outcome.stdout.lines().any(|line| with(&peer, line)),
                "{peer} {metric}: {}",
                outcome.stdout
            );
        }
    }
}

#[test]
fn idle_connections_are_measured_where_there_are_many() {
    if std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|place| place.join("wrk").is_file())
    {
        measures("http_c1000", "tokio", "2", "idle_bytes ");
    }
}

#[test]
fn without_their_client_servers_are_skipped() {
    let scratch = Scratch::new("no-client");
    let mut program = program();
    program
        .env("PATH", scratch.path())
        .args(["run", "http", "--peer", "tokio", "--peer", "may", "--json", "-"]);
    let outcome = outcome(&mut program);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("skipped: http with all peers: no wrk found"), "{}", outcome.stderr);
}

#[test]
fn a_server_without_a_known_peer_is_refused() {
    let outcome = bench(["serve-http", "rayon", "1"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("rayon has no server"), "{}", outcome.stderr);
}

#[test]
fn fibers_that_stay_play_pingpong_together_and_apart() {
    for metric in ["together_ns ", "apart_ns "] {
        measures("pingpong", "sinew", "2", metric);
    }
}

#[test]
fn some_workloads_have_further_metrics() {
    measures("skynet", "sinew", "1", "buffered_ms ");
    measures("skynet", "sinew", "1", "buffered_stacks ");
    for peer in ["sinew", "crossbeam"] {
        measures("select8", peer, "1", "list_ns ");
    }
}
