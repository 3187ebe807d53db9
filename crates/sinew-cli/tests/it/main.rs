//! The `sinew` program, started as a person would start it.

use std::process::{Command, Output};

fn sinew(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(arguments).output().expect("sinew starts")
}

#[test]
fn without_arguments_it_checks_everything_and_succeeds() {
    let output = sinew(&["--no-measure"]);
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(words.ends_with("8 checks, all hold\n"), "{words}");
    assert!(!words.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn it_measures_unless_told_not_to() {
    let output = sinew(&[]);
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(words.contains("one switch, either way"), "{words}");
}

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    let output = sinew(&["--fast"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(words.contains("--fast") && words.contains("Usage"), "{words}");
}
