//! The `sinew` program, started as a person would start it.

mod serve;

use std::process::{Command, Output};

fn sinew(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(arguments).output().expect("sinew starts")
}

#[test]
fn without_arguments_it_checks_everything_and_succeeds() {
    let output = sinew(&["--no-measure"]);
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(words.ends_with("10 checks, all hold\n"), "{words}");
    assert!(words.contains("\"sinew: stack overflow in diver 7: its stack has"), "{words}");
    assert!(words.contains("guards ") && !words.contains("Advice"), "{words}");
    assert!(!words.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn it_measures_unless_told_not_to() {
    let output = sinew(&[]);
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    for figure in ["one switch, either way", "take and return a pooled stack"] {
        assert!(words.contains(figure), "{words}");
    }
}

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    let output = sinew(&["--fast"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(words.contains("--fast") && words.contains("Usage"), "{words}");
}
