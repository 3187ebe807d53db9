//! A server in a process of its own, seen from outside: its port, and the resources that the kernel
//! reports for it.

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

/// The name of a foreign program's workload that is a server.
const FOREIGN: &str = "serve_http";

/// A running server. Dropping it ends the process.
pub(super) struct Server {
    child: Child,
    port: u16,
}

/// What it has used so far.
pub(super) struct Used {
    /// Processor time of all threads.
    pub(super) cpu: Duration,
    /// How often a thread that still runs went off a processor for want of work.
    pub(super) waits: u64,
}

impl Server {
    /// Starts a server, and returns when it listens.
    pub(super) fn start(peer: &Peer, threads: usize, processor: Option<usize>) -> Result<Self, String> {
        let mut command = command(peer)?;
        command.arg(threads.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
        companion::tie(&mut command, processor);
        let child = command.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
        let mut server = Self { child, port: 0 };
        server.port = server.told().ok_or("the server did not print its port")?;
        Ok(server)
    }

    /// Returns the port, which the server prints first.
    fn told(&mut self) -> Option<u16> {
        let mut line = String::new();
        BufReader::new(self.child.stdout.take()?).read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    /// Returns the port where it listens.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn used(&self) -> Used {
        let process = self.child.id();
        Used { cpu: usage::cpu_time_of(process), waits: usage::waits_of(process) }
    }

    /// Returns the memory that it holds, in bytes. Memory of the kernel for sockets is not
    /// included.
    pub(super) fn memory(&self) -> f64 {
        usage::memory_of(self.child.id())
    }

    /// Returns how many descriptors it has.
    pub(super) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// Waits until the server has closed what its clients have closed, and has no more than `most`
    /// descriptors.
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

/// Returns the command: this program again, or a foreign one.
fn command(peer: &Peer) -> Result<Command, String> {
    if let Home::Foreign(toolchain) = peer.home {
        let mut command = Program::build(toolchain)?.command();
        command.arg(FOREIGN);
        return Ok(command);
    }
    let own = env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let mut command = Command::new(own);
    command.args(["serve-http", peer.name]);
    Ok(command)
}
