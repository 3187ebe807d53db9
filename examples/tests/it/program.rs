//! A program that runs as long as a test: what it prints, how it ends, its open descriptors. It
//! knows no example.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any step of a test takes, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running program. Dropping it kills the program, if it has not ended.
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    pub(crate) fn start(path: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    /// Starts a server at a port of its own, and returns it with its address.
    pub(crate) fn serve(path: &str, arguments: &[&str]) -> (Self, SocketAddr) {
        let program = Self::start(path, arguments);
        let line = program.line();
        let address = line.rsplit([' ', '/']).next().unwrap_or_default();
        let address = address.parse().unwrap_or_else(|_| panic!("no address in {line:?}"));
        (program, address)
    }

    /// Returns the next line that it prints.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the program says something")
    }

    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("it is taken once")
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        self.kill("TERM");
    }

    /// Runs `meanwhile` before the program can react, and sends SIGTERM with it.
    pub(crate) fn terminate_after(&self, meanwhile: impl FnOnce()) {
        self.kill("STOP");
        meanwhile();
        self.kill("TERM");
        self.kill("CONT");
    }

    fn kill(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    }

    /// Waits for its end, which must be a success. Returns the lines that it has printed since.
    pub(crate) fn end(mut self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end; it said {said:?}"),
            }
        }
        // Its output is closed, which only happens at its end.
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "{status}; it said {said:?}");
        said
    }

    /// Ends it by SIGTERM. It must report that, and the number of served connections.
    pub(crate) fn quit(self, served: &str) {
        self.terminate();
        assert_eq!(self.end(), ["SIGTERM: ending", served]);
    }

    /// Returns the number of its open descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs").count()
    }

    /// Waits until it has no more than `descriptors` descriptors: those of former clients are
    /// closed.
    pub(crate) fn settle(&self, descriptors: usize) {
        let until = Instant::now() + PATIENCE;
        while self.descriptors() > descriptors {
            assert!(Instant::now() < until, "{} descriptors are left", self.descriptors());
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects, with time limits for reads and writes.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("the time is not zero");
    stream.set_write_timeout(Some(PATIENCE)).expect("the time is not zero");
    stream
}

/// Runs `size` clients at once, each on a thread. One that panics fails the test.
pub(crate) fn crowd(size: usize, client: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for number in 0..size {
            let client = &client;
            scope.spawn(move || client(number));
        }
    });
}
