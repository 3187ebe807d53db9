//! Reads what a program prints until it ends, or ends it when its time is over.
//!
//! It does not know what the lines mean.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result, While};

/// A program that was watched to its end.
pub(super) struct Watched {
    /// What it printed, without line breaks.
    pub(super) lines: Vec<String>,
    /// How it ended; none if it was killed.
    pub(super) status: Option<ExitStatus>,
}

/// Watches a program whose standard output is a pipe.
pub(super) fn watch(mut child: Child, limit: Duration) -> Result<Watched> {
    let stdout = child.stdout.take().ok_or_else(|| Failure::new("a program to watch has no pipe"))?;
    let (sender, receiver) = channel();
    thread::spawn(move || send_lines(stdout, &sender));
    let mut lines = Vec::new();
    let in_time = receive(&receiver, limit, &mut lines);
    if !in_time {
        child.kill().while_doing("ending a program whose time is up")?;
        // The last lines may still be in the channel.
        lines.extend(receiver);
    }
    let status = child.wait().while_doing("waiting for a program")?;
    Ok(Watched { lines, status: in_time.then_some(status) })
}

/// Sends the lines. A console may show anything, so bytes that are not UTF-8 are replaced.
fn send_lines(output: impl Read, sender: &Sender<String>) {
    let lines = BufReader::new(output).split(b'\n').map_while(|line| line.ok());
    for line in lines {
        let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
        if sender.send(line).is_err() {
            return;
        }
    }
}

/// Takes lines until there are no more. Returns whether that was in time.
fn receive(receiver: &Receiver<String>, limit: Duration, lines: &mut Vec<String>) -> bool {
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Exec;

    fn shell(script: &str, limit: Duration) -> Watched {
        let child = Exec::new("sh").args(["-c", script]).start().expect("a shell");
        watch(child, limit).expect("a program to watch")
    }

    #[test]
    fn a_program_that_ends_is_read_to_its_last_word() {
        let watched = shell("printf 'one\\r\\n\\ntw\\377o'; exit 3", Duration::MAX);
        assert_eq!(watched.lines, ["one", "", "tw\u{fffd}o"]);
        assert_eq!(watched.status.and_then(|status| status.code()), Some(3));
    }

    #[test]
    fn a_program_whose_time_is_up_is_ended() {
        assert!(shell("exec sleep 1000", Duration::ZERO).status.is_none());
    }
}
