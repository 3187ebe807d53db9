//! The `sinew` program, started as a person would start it.

mod doctor;
mod pty;
mod serve;
mod tour;
mod xml;

use std::process::{Command, Output};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments);
    command
}

fn sinew(arguments: &[&str]) -> Output {
    command(arguments).output().expect("sinew starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8")
}

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    let output = sinew(&["--fast"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(words.contains("--fast") && words.contains("Usage"), "{words}");
}
