//! A server in a process of its own, seen from outside: where it listens, and what the kernel says about it.

use crate::companion;
use crate::foreign::Program;
use crate::peers::{Home, Peer};
use crate::usage;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a foreign program calls the workload that is a server.
const FOREIGN: &str = "serve_http";

/// It is ended when this is dropped.
pub(super) struct Server {
    child: Child,
    port: u16,
}

/// What it has used up so far.
pub(super) struct Used {
    /// Of processors, by all threads.
    pub(super) cpu: Duration,
    /// How often a thread that is still there went off a processor since it had nothing to do.
    pub(super) waits: u64,
}

impl Server {
    /// Starts it, and returns when it listens.
    pub(super) fn start(peer: &Peer, threads: usize, processor: Option<usize>) -> Result<Self, String> {
        let mut command = command(peer)?;
        command.arg(threads.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
        companion::tie(&mut command, processor);
        let child = command.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
        let mut server = Self { child, port: 0 };
        server.port = server.told().ok_or("the server did not say where it listens")?;
        Ok(server)
    }

    /// What it says first.
    fn told(&mut self) -> Option<u16> {
        let mut line = String::new();
        BufReader::new(self.child.stdout.take()?).read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    /// Where it listens.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn used(&self) -> Used {
        let process = self.child.id();
        Used { cpu: usage::cpu_time_of(process), waits: usage::waits_of(process) }
    }

    /// The memory that it holds, in bytes. What the kernel has for sockets is not in it.
    pub(super) fn memory(&self) -> f64 {
        usage::memory_of(self.child.id())
    }

    /// How many descriptors it has.
    pub(super) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// Waits until it has closed what its clients have, and has no more than so many.
    pub(super) fn wait_for_descriptors(&self, most: usize) -> Result<(), String> {
        let begun = Instant::now();
        while self.descriptors() > most {
            if begun.elapsed() > Duration::from_secs(10) {
                return Err("the server does not close its connections".to_owned());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This program once more, or a foreign one.
fn command(peer: &Peer) -> Result<Command, String> {
    if let Home::Foreign(toolchain) = peer.home {
        let mut command = Program::build(toolchain)?.command();
        command.arg(FOREIGN);
        return Ok(command);
    }
    let own = env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    let mut command = Command::new(own);
    command.args(["serve-http", peer.name]);
    Ok(command)
}
