//! Copies between two streams in both directions at once. Knows no kind of stream.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::{Location, resume_unwind};
use std::sync::OnceLock;

use super::copy::copy;
use super::fd::Fd;
use crate::fiber::{self, CancelToken, Stopped};

/// A stream of which one direction can end while the other continues.
///
/// ```
/// use sinew::io::{self, HalfClose, Read, Write};
///
/// /// A stream that counts.
/// struct Counted<S>(S, std::sync::atomic::AtomicUsize);
///
/// impl<S: HalfClose> HalfClose for Counted<S> {
///     fn end_writing(&self) -> io::Result<()> {
///         self.0.end_writing()
///     }
/// }
/// ```
pub trait HalfClose {
    /// Ends writing: the peer reads the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns the errors of the stream.
    fn end_writing(&self) -> io::Result<()>;
}

impl<S: HalfClose + ?Sized> HalfClose for &S {
    fn end_writing(&self) -> io::Result<()> {
        (**self).end_writing()
    }
}

impl<S: HalfClose + AsFd> HalfClose for Fd<S> {
    fn end_writing(&self) -> io::Result<()> {
        self.get_ref().end_writing()
    }
}

/// For an [`Fd`] of std's types.
impl HalfClose for std::os::unix::net::UnixStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(std::net::Shutdown::Write)
    }
}

impl HalfClose for std::net::TcpStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(std::net::Shutdown::Write)
    }
}

/// Copies all bytes from each of two streams to the other, as a proxy does. Returns the number of
/// bytes from the first to the second, and the number in the other direction. When one stream ends,
/// writing to the other is ended. The copy is complete when both streams have ended.
///
/// ```
/// use sinew::io::{self, Read, Write};
/// use sinew::os::unix::net::UnixStream;
/// use sinew::fiber;
/// use std::net::Shutdown;
///
/// let (mut client, ours) = UnixStream::pair()?;
/// let (theirs, mut server) = UnixStream::pair()?;
/// let proxy = fiber::spawn(move || io::copy_bidirectional(&ours, &theirs));
/// client.write_all(b"question")?;
/// client.shutdown(Shutdown::Write)?;
/// assert_eq!(io::read_to_string(&server)?, "question");
/// server.write_all(b"answer")?;
/// drop(server);
/// assert_eq!(io::read_to_string(&client)?, "answer");
/// assert_eq!(proxy.join().unwrap()?, (8, 6));
/// # Ok::<(), io::Error>(())
/// ```
///
/// Pass a stream in an [`Arc`](std::sync::Arc) as `&*stream`: `Read` for `&Arc<T>` does not exist,
/// and only std could implement it.
///
/// A new fiber copies the second direction. It belongs to the default runtime if the caller is a
/// plain thread.
///
/// # Errors
///
/// Returns the error of the direction that fails first, as [`copy()`](super::copy()) does. This
/// also ends the other direction.
#[track_caller]
pub fn copy_bidirectional<A, B>(a: &A, b: &B) -> io::Result<(u64, u64)>
where
    A: HalfClose + Sync,
    B: HalfClose + Sync,
    for<'x> &'x A: Read + Write,
    for<'x> &'x B: Read + Write,
{
    let at = Location::caller();
    let failed = OnceLock::new();
    let (there, back) = fiber::scope(|scope| {
        let token = scope.token();
        let (copy, first) = (token.clone(), &failed);
        let back = scope.spawn(move || pass((&mut &*b, &mut &*a, a), &copy, first));
        let there = token.run(|| pass((&mut &*a, &mut &*b, b), &token, &failed));
        (there, back.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    match (there, back, failed.into_inner()) {
        (Some(there), Some(back), _) => Ok((there, back)),
        (_, _, error) => Err(Stopped::in_error_at(error.expect("the first error is kept"), at)),
    }
}

/// Copies one direction. Keeps its error if it is the first, and stops the other direction.
fn pass(
    (from, to, end): (&mut dyn Read, &mut dyn Write, &dyn HalfClose),
    token: &CancelToken,
    failed: &OnceLock<io::Error>,
) -> Option<u64> {
    let passed = copy(from, to).and_then(|count| match end.end_writing() {
        // The peer is gone, so that no reader is left that could see the end.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(count),
        ended => ended.map(|()| count),
    });
    match passed {
        Ok(count) => Some(count),
        Err(error) => {
            let _ = failed.set(error);
            token.cancel();
            None
        }
    }
}
