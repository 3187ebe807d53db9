//! `sinew serve` as a process of its own, and clients that use no fibers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A time limit for an answer that never comes: no other answer takes this long.
const LONG: Duration = Duration::from_secs(60);

/// A server that is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    words: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

/// What a server has printed when it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) words: String,
    pub(crate) errors: String,
}

impl Server {
    /// Starts a server with these arguments, at a free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        Self::of(command)
    }

    /// Starts a server that may have this number of descriptors.
    pub(crate) fn start_with_descriptors(most: u32, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_sinew"), "serve", "--listen", "127.0.0.1:0"]);
        command.args(arguments);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut words = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        words.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on http://").map(str::parse);
        let address = address.unwrap_or_else(|| panic!("it said {first:?}")).unwrap();
        Self { child, words, address }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::to(self.address)
    }

    /// Returns how many descriptors the server has.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Waits until the server has this number of descriptors, or fewer.
    pub(crate) fn wait_for_descriptors(&self, most: usize) {
        wait_until(|| self.descriptors() <= most);
    }

    /// Tells the server to end, and waits until it has received that: from then on each answer
    /// closes its connection.
    pub(crate) fn terminate(&mut self) {
        self.signal();
        let mut heard = String::new();
        self.words.read_line(&mut heard).unwrap();
        assert_eq!(heard, "SIGTERM: answering the requests that have begun\n");
    }

    /// Sends the server a SIGTERM.
    pub(crate) fn signal(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Waits for the end of the server.
    pub(crate) fn wait(mut self) -> Ended {
        let (mut words, mut errors) = (String::new(), String::new());
        self.words.read_to_string(&mut words).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        Ended { status: self.child.wait().unwrap(), words, errors }
    }

    /// Shuts the server down, and checks that it succeeds.
    pub(crate) fn end(mut self) -> Ended {
        self.terminate();
        let ended = self.wait();
        assert!(ended.status.success(), "{} {}", ended.words, ended.errors);
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_so` returns true.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A client's connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    /// Bytes that belong to the next answer.
    rest: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) closes: bool,
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        Self { stream, rest: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends a request, and waits for the answer.
    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.send(request(target));
        self.answer().expect("a request is answered")
    }

    /// Returns the next answer; none, if the connection ends before its first byte.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        loop {
            if let Some((answer, len)) = parse(&self.rest) {
                self.rest.drain(..len);
                return Some(answer);
            }
            let mut room = [0; 4_096];
            let read = self.stream.read(&mut room).expect("the connection ends in good order");
            if read == 0 {
                assert!(self.rest.is_empty(), "half an answer: {:?}", String::from_utf8_lossy(&self.rest));
                return None;
            }
            self.rest.extend_from_slice(&room[..read]);
        }
    }

    /// Ends the client's sending side.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

pub(crate) fn request(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n")
}

/// Returns the answer that the bytes begin with, and its size.
fn parse(bytes: &[u8]) -> Option<(Answer, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let size: usize = field("Content-Length:").map_or(0, |size| size.parse().unwrap());
    let body = bytes.get(end..end + size)?.to_vec();
    let status = head[9..12].parse().unwrap();
    Some((Answer { status, body, closes: field("Connection:") == Some("close") }, end + size))
}
