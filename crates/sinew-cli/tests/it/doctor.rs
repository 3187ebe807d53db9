//! `sinew doctor`, as text for people and as JSON for programs.

use serde_json::Value;

use crate::pty::{OnTerminal, without_escapes};
use crate::{command, sinew, text};

const FINDINGS: [&str; 13] = [
    "kernel",
    "stack guards",
    "epoll_pwait2",
    "membarrier",
    "io_uring",
    "CPUs",
    "NUMA",
    "CPU limit",
    "memory",
    "address space",
    "open files",
    "mappings",
    "huge pages",
];

#[test]
fn it_says_what_is_there_what_is_chosen_and_what_to_change() {
    let output = sinew(&["doctor"]);
    let words = text(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(!words.contains('\x1b'), "{words:?}");
    for name in FINDINGS {
        assert!(
            words.lines().any(|line| line.get(3..).is_some_and(|line| line.starts_with(name))),
            "{name}: {words}"
        );
    }
    assert!(words.contains("What the runtime chooses\n   runtime '"), "{words}");
    let (_, advice) = words.split_once("What to change\n").expect("a part with advice");
    assert!(advice.starts_with("   nothing") || advice.starts_with(" ! "), "{advice}");
}

#[test]
fn as_json_each_line_is_a_finding() {
    let output = sinew(&["doctor", "--json"]);
    let objects: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let names: Vec<_> = objects.iter().map(|object| object["finding"].as_str().unwrap()).collect();
    assert_eq!(names, [&FINDINGS[..], &["runtime"]].concat());
    assert!(objects.iter().all(|object| !object["value"].as_str().unwrap().is_empty()), "{objects:?}");
    assert!(objects.iter().all(|object| object["advice"].is_null() || object["advice"].is_string()));
}

#[test]
fn a_setting_that_no_runtime_starts_with_is_reported() {
    let output = command(&["doctor"]).env("SINEW_WORKERS", "many").output().unwrap();
    let words = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("No runtime starts") && words.contains("SINEW_WORKERS"), "{words}");
}

#[test]
fn on_a_narrow_terminal_no_line_is_too_long() {
    let (status, words) = OnTerminal::start(command(&["doctor"]), 40).end();
    let words = without_escapes(&words);
    assert!(status.success() && words.lines().all(|line| line.chars().count() <= 40), "{words}");
}
