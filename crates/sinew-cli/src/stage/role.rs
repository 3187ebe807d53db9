//! Second processes: this program again, in the part that a chapter gives it.

use std::io;
use std::process::{Child, Command, Stdio};

/// The name of the argument that gives this process a part. It is for chapters, not for people.
pub(crate) const ARGUMENT: &str = "play-role";

/// Starts this program in a part. All its streams are pipes; it should end when its standard input
/// does.
pub(crate) fn start(name: &str) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .arg(format!("--{ARGUMENT}={name}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}
