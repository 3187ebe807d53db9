//! A connection: reads requests, answers them in order, and sends the answers when no more requests
//! have arrived. Knows how it is stopped, but not why.

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sinew::fiber::{self, CancelToken, Stopped};
use sinew::net::{Shutdown, TcpStream};

use super::chunk::{self, Chunk};
use super::limits::Limits;
use super::lines;
use super::request::{self, Body, Head, Method, Parsed};
use super::response::{self, Manner, Response, Status};
use super::routes;

/// How much is read at once.
const ROOM: usize = 8 * 1_024;
/// How much of a request is read at first. This buffer is on the stack: a connection that waits for
/// a request keeps no other memory.
const FIRST_ROOM: usize = 1_024;
/// The longest line before a chunk.
const LONGEST_LINE: usize = 256;
/// Answers of this size are sent before more requests are answered.
const MOST_UNSENT: usize = 64 * 1_024;
/// How long the rest of a refused request is read: the client would miss the answer otherwise.
const REST: Duration = Duration::from_millis(500);

/// What a connection runs over.
pub(crate) trait Stream: Read + Write {
    /// Ends the sending side.
    fn end(&mut self) -> io::Result<()>;

    /// Waits for this time.
    fn sleep(&self, time: Duration);
}

impl Stream for TcpStream {
    fn end(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }

    fn sleep(&self, time: Duration) {
        fiber::sleep(time);
    }
}

/// The server's side of a connection.
pub(crate) struct Connection<'a, S> {
    stream: S,
    limits: &'a Limits,
    /// Cancelled when the server shuts down.
    drain: &'a CancelToken,
    input: Vec<u8>,
    /// How many bytes of the input were used up.
    used: usize,
    output: Vec<u8>,
    /// How many answers the output contains.
    unsent: u64,
    /// Counts answers when they are sent, even if the connection then ends in an error.
    answered: &'a AtomicU64,
}

/// Why there is no request to answer.
pub(super) enum Fault {
    /// The request is refused with this status.
    Refused(Status),
    /// The connection failed, or ended within a request.
    Io(io::Error),
    /// The client ended the connection, or was silent for too long, between two requests.
    Over,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Self::Refused(status)
    }
}

impl<'a, S: Stream> Connection<'a, S> {
    pub(crate) fn new(
        stream: S,
        limits: &'a Limits,
        drain: &'a CancelToken,
        answered: &'a AtomicU64,
    ) -> Self {
        Self { stream, limits, drain, input: Vec::new(), used: 0, output: Vec::new(), unsent: 0, answered }
    }

    /// Serves the connection to its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the client ends the connection within a request, or is too slow to take
    /// its answers.
    pub(crate) fn serve(mut self) -> io::Result<()> {
        loop {
            match self.serve_one() {
                Ok(true) => {}
                Ok(false) => return self.finish(),
                Err(Fault::Refused(status)) => {
                    let manner = Manner { is_for_head: false, closes: true, is_for_old: false };
                    response::write(&mut self.output, &Response::bare(status), manner);
                    return self.finish();
                }
                Err(Fault::Over) => return Ok(()),
                Err(Fault::Io(error)) => return Err(error),
            }
        }
    }

    /// Answers that the service is unavailable, and ends the connection.
    pub(crate) fn turn_away(mut self) -> io::Result<()> {
        let manner = Manner { is_for_head: false, closes: true, is_for_old: false };
        response::write(&mut self.output, &Response::bare(Status::UNAVAILABLE), manner);
        self.finish()
    }

    /// Sends the remaining answers and ends the connection, after reading what the client still
    /// sends. If the connection were just closed, unread input would make the kernel discard the
    /// answers.
    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.stream.end()?;
        let (until, mut room) = (Instant::now() + REST, [0; 1_024]);
        while fiber::with_deadline(until, || self.stream.read(&mut room)).is_ok_and(|read| read > 0) {}
        Ok(())
    }

    fn serve_one(&mut self) -> Result<bool, Fault> {
        let (head, body) = self.read_request()?;
        let answer = routes::answer(&head, body, |time| self.stream.sleep(time));
        let closes = !head.keeps_alive || self.drain.is_cancelled();
        response::write(
            &mut self.output,
            &answer,
            Manner { is_for_head: head.method == Method::Head, closes, is_for_old: head.is_old },
        );
        self.unsent += 1;
        if self.output.len() >= MOST_UNSENT {
            self.flush()?;
        }
        Ok(!closes)
    }

    /// Reads the next request.
    pub(super) fn read_request(&mut self) -> Result<(Head, Vec<u8>), Fault> {
        let (head, until) = self.read_head()?;
        let body = self.read_body(&head, until)?;
        Ok((head, body))
    }

    /// Reads the next head. Returns it with the deadline for the rest of the request.
    fn read_head(&mut self) -> Result<(Head, Instant), Fault> {
        let mut until = None;
        loop {
            if !self.rest().is_empty() {
                until = until.or_else(|| Some(Instant::now() + self.limits.request));
                if let Parsed::Whole(head, len) = request::parse(self.rest(), self.limits.max_head)? {
                    self.used += len;
                    return Ok((*head, until.unwrap_or_else(Instant::now)));
                }
            }
            match until {
                Some(until) => self.read_until(until)?,
                None => self.read_first()?,
            }
        }
    }

    /// Waits for the first bytes of a request, within the idle limit; for less time when the server
    /// shuts down.
    fn read_first(&mut self) -> Result<(), Fault> {
        self.flush()?;
        let (drain, until) = (self.drain, Instant::now() + self.limits.idle);
        let mut read = drain.run(|| fiber::with_deadline(until, || self.fill()));
        if read.as_ref().is_err_and(is_cancelled) {
            let soon = Instant::now() + self.limits.linger;
            read = fiber::with_deadline(soon, || self.fill());
        }
        match read {
            Ok(0) => Err(Fault::Over),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(Fault::Over),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads more of a request that has begun. Sends the earlier answers first: a client that waits
    /// for one may send nothing before it.
    fn read_until(&mut self, until: Instant) -> Result<(), Fault> {
        self.flush()?;
        match fiber::with_deadline(until, || self.fill()) {
            Ok(0) => Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(Status::TIMEOUT.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn read_body(&mut self, head: &Head, until: Instant) -> Result<Vec<u8>, Fault> {
        if matches!(head.body, Body::Sized(size) if size > self.limits.max_body) {
            return Err(Status::BODY_TOO_LARGE.into());
        }
        if head.expects_continue && head.body != Body::Sized(0) && self.rest().is_empty() {
            self.output.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        match head.body {
            Body::Sized(size) => self.take(size, until),
            Body::Chunked => self.read_chunks(until),
        }
    }

    fn read_chunks(&mut self, until: Instant) -> Result<Vec<u8>, Fault> {
        let (mut body, mut extensions) = (Vec::new(), 0);
        loop {
            let chunk = self.read_chunk_line(until)?;
            extensions += chunk.extensions;
            if extensions > self.limits.max_head {
                return Err(Status::BAD_REQUEST.into());
            }
            if chunk.size == 0 {
                break;
            }
            if chunk.size > self.limits.max_body - body.len() as u64 {
                return Err(Status::BODY_TOO_LARGE.into());
            }
            body.append(&mut self.take(chunk.size, until)?);
            self.read_chunk_end(until)?;
        }
        self.read_trailers(until)?;
        Ok(body)
    }

    fn read_chunk_line(&mut self, until: Instant) -> Result<Chunk, Fault> {
        loop {
            if let Some(len) = lines::line(self.rest(), LONGEST_LINE)? {
                let chunk = chunk::parse(&self.rest()[..len])?;
                self.used += len + 2;
                return Ok(chunk);
            }
            self.read_until(until)?;
        }
    }

    /// Reads the CRLF after the data of a chunk.
    fn read_chunk_end(&mut self, until: Instant) -> Result<(), Fault> {
        loop {
            match self.rest() {
                [b'\r', b'\n', ..] => {
                    self.used += 2;
                    return Ok(());
                }
                [] | [b'\r'] => self.read_until(until)?,
                _ => return Err(Status::BAD_REQUEST.into()),
            }
        }
    }

    /// Reads trailers and the empty line after them. Trailers are checked, then ignored.
    fn read_trailers(&mut self, until: Instant) -> Result<(), Fault> {
        loop {
            if let Some(len) = chunk::trailers(self.rest(), self.limits.max_head)? {
                self.used += len;
                return Ok(());
            }
            self.read_until(until)?;
        }
    }

    /// Reads this many bytes of a body. The caller has compared the size with the limit.
    fn take(&mut self, size: u64, until: Instant) -> Result<Vec<u8>, Fault> {
        // No truncation: the library supports 64-bit targets only.
        let size = size as usize;
        while self.rest().len() < size {
            self.read_until(until)?;
        }
        let body = self.rest()[..size].to_vec();
        self.used += size;
        Ok(body)
    }

    /// Returns the bytes that were read from the stream and belong to no request yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.input[self.used..]
    }

    /// Reads the bytes that have arrived. Returns their number; 0, if the client has ended its
    /// side.
    fn fill(&mut self) -> io::Result<usize> {
        self.input.drain(..self.used);
        self.used = 0;
        let len = self.input.len();
        if len == 0 {
            return self.fill_first();
        }
        self.input.resize(len + ROOM, 0);
        let read = self.stream.read(&mut self.input[len..]);
        self.input.truncate(len + *read.as_ref().unwrap_or(&0));
        read
    }

    fn fill_first(&mut self) -> io::Result<usize> {
        self.input = Vec::new();
        let mut room = [0; FIRST_ROOM];
        let read = self.stream.read(&mut room)?;
        self.input.extend_from_slice(&room[..read]);
        Ok(read)
    }

    /// Sends the answers in the output.
    fn flush(&mut self) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        let until = Instant::now() + self.limits.write;
        fiber::with_deadline(until, || self.stream.write_all(&self.output))?;
        self.output.clear();
        // Relaxed: the reader of the sum has seen the connection leave the crowd, or accepts the
        // current value.
        self.answered.fetch_add(std::mem::take(&mut self.unsent), Ordering::Relaxed);
        Ok(())
    }
}

/// Returns whether a wait ended by cancellation, and not at its deadline.
fn is_cancelled(error: &io::Error) -> bool {
    let source = error.get_ref().map(|source| source as &(dyn Error + 'static));
    source.and_then(|source| source.downcast_ref::<Stopped>()).is_some_and(Stopped::is_cancelled)
}
