//! Copying between two streams in both directions at once. Knows neither of them.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::{Location, resume_unwind};
use std::sync::OnceLock;

use super::copy::copy;
use super::fd::Fd;
use crate::fiber::{self, CancelToken, Stopped};

/// A stream of which one direction can end while the other goes on.
///
/// ```
/// use sinew::io::{self, HalfClose, Read, Write};
///
/// /// One that counts.
/// struct Counted<S>(S, std::sync::atomic::AtomicUsize);
///
/// impl<S: HalfClose> HalfClose for Counted<S> {
///     fn end_writing(&self) -> io::Result<()> {
///         self.0.end_writing()
///     }
/// }
/// ```
pub trait HalfClose {
    /// Nothing more will be written: whoever reads at the other end finds the end.
    ///
    /// # Errors
    ///
    /// As the stream has them.
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

/// Std's, for what is made of them.
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

/// Copies all that comes from each of two streams to the other, as a proxy does, and returns how many bytes went from the first to the second, and
/// back. When one of them ends, the other is told that no more will come; it is over when both have ended.
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
/// What is in an [`Arc`](std::sync::Arc) is given as `&*stream`: std has no `Read` for a reference to one, and nobody else can.
///
/// The way back is a fiber of its own, in the default runtime if the caller is a plain thread.
///
/// # Errors
///
/// As [`copy()`](super::copy()) has them, of the direction that fails first: that ends the other one.
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
        (_, _, error) => Err(Stopped::in_error_at(error.expect("whatever fails is kept"), at)),
    }
}

/// One direction. If it fails, it is kept why, unless the other one has, and that one stops.
fn pass(
    (from, to, end): (&mut dyn Read, &mut dyn Write, &dyn HalfClose),
    token: &CancelToken,
    failed: &OnceLock<io::Error>,
) -> Option<u64> {
    let passed = copy(from, to).and_then(|count| match end.end_writing() {
        // The other end is gone, and with it all who would be told.
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
