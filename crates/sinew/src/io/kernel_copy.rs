//! Copies between descriptors without passing the bytes through the program. Knows which system
//! call each pair of kinds needs, and no protocol.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{copy_file_range, sendfile};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::pipe::{SpliceFlags, splice};

use super::copy::copy;
use super::handle::IoHandle;
use super::socket_settings::{NonblockingGuard, Patience};
use crate::fiber;
use crate::rt;
use crate::rt::io::Direction;

/// How many bytes one system call copies at most.
const CHUNK: usize = 1 << 20;

/// Other fibers run after this many calls. A call moves at most the contents of a pipe unless it
/// waits.
const TURN: u64 = 16;

/// Copies all bytes from one descriptor to another, and returns their number. The kernel copies
/// where it can, without passing the bytes through the program; otherwise this is
/// [`copy()`](super::copy()).
///
/// ```
/// use sinew::fs::File;
/// use sinew::io::{self, Read};
/// use sinew::os::unix::net::UnixStream;
///
/// let (mut client, server) = UnixStream::pair()?;
/// let sends = sinew::fiber::spawn(move || {
///     let program = File::open(std::env::current_exe()?)?;
///     io::kernel_copy(&program, &server)
/// });
/// let mut bytes = Vec::new();
/// client.read_to_end(&mut bytes)?;
/// assert_eq!(sends.join().unwrap()?, bytes.len() as u64);
/// # Ok::<(), io::Error>(())
/// ```
///
/// | from | to | by |
/// | --- | --- | --- |
/// | file | file | `copy_file_range`, which shares blocks where the file system can |
/// | file | socket | `sendfile` |
/// | pipe, file or socket | pipe | `splice` |
/// | pipe | file or socket | `splice` |
/// | socket | file or socket | a buffer of the program: the kernel has no such call |
///
/// A buffer of the program is also used where the kernel refuses, for example for a file that is
/// open for appending, and for a [`File`](crate::fs::File) that is not a regular file.
/// [`std::io::copy`] selects the system call by specialization, which only std can do. So this is a
/// separate function, for the types of this crate.
///
/// During a copy from or to a socket, the socket is non-blocking (`O_NONBLOCK`), and so are its
/// duplicates outside of this crate, also those in other processes. If the peer is gone, the
/// process gets a signal (`SIGPIPE`), which Rust programs ignore by default.
///
/// # Errors
///
/// Returns any error of the system calls, and an error if the caller is stopped. Bytes that were
/// copied before stay copied.
#[track_caller]
pub fn kernel_copy<S, D>(source: &S, sink: &D) -> io::Result<u64>
where
    S: KernelSource + ?Sized,
    D: KernelSink + ?Sized,
{
    let mut copied = 0;
    match by_kernel(&source.end(), &sink.end(), &mut copied)? {
        CopyOutcome::Ended => Ok(copied),
        CopyOutcome::Refused => Ok(copied + copy(&mut *source.reader(), &mut *sink.writer())?),
    }
}

/// A descriptor that [`kernel_copy`] copies from. Implemented for types of this crate only.
pub trait KernelSource {
    #[doc(hidden)]
    fn end(&self) -> End<'_>;

    #[doc(hidden)]
    fn reader(&self) -> Box<dyn Read + '_>;
}

/// A descriptor that [`kernel_copy`] copies to. Implemented for types of this crate only.
pub trait KernelSink {
    #[doc(hidden)]
    fn end(&self) -> End<'_>;

    #[doc(hidden)]
    fn writer(&self) -> Box<dyn Write + '_>;
}

/// A descriptor, classified by what the kernel can do with it. Only this crate can make one.
pub struct End<'a>(pub(crate) KernelEnd<'a>);

pub(crate) enum KernelEnd<'a> {
    /// A file, which is always ready, and whose calls block.
    File(&'a fs::File),
    /// A pipe, which is non-blocking.
    Pipe(&'a dyn Stream),
    /// A socket, which is made non-blocking during a copy.
    Socket(&'a dyn Stream),
}

/// A descriptor that can be waited for.
pub(crate) trait Stream {
    fn fd(&self) -> BorrowedFd<'_>;

    fn hold_nonblocking(&self) -> io::Result<NonblockingGuard<'_>>;

    #[track_caller]
    fn wait(&self, direction: Direction) -> io::Result<()>;
}

impl<T: AsFd> Stream for IoHandle<T> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn hold_nonblocking(&self) -> io::Result<NonblockingGuard<'_>> {
        self.settings().hold_nonblocking(self.as_fd())
    }

    fn wait(&self, direction: Direction) -> io::Result<()> {
        self.call(direction, Patience::AsSet, |fd| check(fd.as_fd(), direction))
    }
}

/// Returns an error of kind `WouldBlock` unless bytes can be moved, or an end or error is pending.
/// Urgent data does not count, because it is not copied.
fn check(fd: BorrowedFd<'_>, direction: Direction) -> io::Result<()> {
    let flags = match direction {
        Direction::Read => PollFlags::IN,
        Direction::Write => PollFlags::OUT,
    };
    let mut asked = [PollFd::new(&fd, flags)];
    match poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ if asked[0].revents() == PollFlags::ERR => check_error(fd),
        _ => Ok(()),
    }
}

/// Returns the pending error of a socket, or `WouldBlock` if there is none. The kernel also reports
/// `ERR` for messages in a socket's error queue (send timestamps, completed zero-copy sends). Those
/// are for the program to read and do not end the wait.
fn check_error(fd: BorrowedFd<'_>) -> io::Result<()> {
    match sockopt::socket_error(fd) {
        Ok(Ok(())) => Err(io::ErrorKind::WouldBlock.into()),
        Ok(Err(error)) => Err(error.into()),
        // Not a socket: a pipe without readers. The next call fails.
        Err(_) => Ok(()),
    }
}

/// How the kernel's part of a copy ended.
#[derive(Debug, PartialEq, Eq)]
enum CopyOutcome {
    /// The source has ended.
    Ended,
    /// The kernel cannot copy between these descriptors, or no longer.
    Refused,
}

#[track_caller]
fn by_kernel(source: &End<'_>, sink: &End<'_>, copied: &mut u64) -> io::Result<CopyOutcome> {
    // Other files may block, or become full: the number of bytes copied until then would be lost.
    if !is_regular(source)? || !is_regular(sink)? {
        return Ok(CopyOutcome::Refused);
    }
    let _nonblocking = [hold_nonblocking(source)?, hold_nonblocking(sink)?];
    let mut calls = 0_u64;
    loop {
        calls += 1;
        if calls.is_multiple_of(TURN) {
            rt::give_way();
        }
        fiber::checkpoint()?;
        match once(&source.0, &sink.0) {
            // The size of a generated file, such as one in `/proc`, may be zero for the kernel.
            Ok(0) if *copied == 0 && matches!(source.0, KernelEnd::File(_)) => {
                return Ok(CopyOutcome::Refused);
            }
            Ok(0) => return Ok(CopyOutcome::Ended),
            Ok(more) => *copied += more,
            Err(Errno::AGAIN) => {
                // One of the two has no bytes or no room. The other is ready, so its wait returns
                // at once.
                wait(source, Direction::Read)?;
                wait(sink, Direction::Write)?;
            }
            Err(Errno::INTR) => {}
            // `XDEV`: files of two file systems. `BADF`: a file that is open for appending.
            Err(
                Errno::INVAL
                | Errno::NOSYS
                | Errno::OPNOTSUPP
                | Errno::PERM
                | Errno::OVERFLOW
                | Errno::XDEV
                | Errno::BADF,
            ) => return Ok(CopyOutcome::Refused),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes one system call. Returns [`Errno::INVAL`] if there is none for this pair.
fn once(source: &KernelEnd<'_>, sink: &KernelEnd<'_>) -> Result<u64, Errno> {
    let splice = |from: BorrowedFd<'_>, to: BorrowedFd<'_>| {
        splice(from, None, to, None, CHUNK, SpliceFlags::NONBLOCK | SpliceFlags::MOVE)
            .map(|count| count as u64)
    };
    match (source, sink) {
        (KernelEnd::File(from), KernelEnd::File(to)) => {
            rt::blocking(|| copy_file_range(from, None, to, None, CHUNK).map(|count| count as u64))
        }
        // `sendfile` may wait for the disk.
        (KernelEnd::File(from), KernelEnd::Socket(to)) => {
            let to = to.fd();
            rt::blocking(|| sendfile(to, from, None, CHUNK).map(|count| count as u64))
        }
        (KernelEnd::File(from), KernelEnd::Pipe(to)) => {
            let to = to.fd();
            rt::blocking(|| splice(from.as_fd(), to))
        }
        (KernelEnd::Pipe(from), KernelEnd::File(to)) => {
            let from = from.fd();
            rt::blocking(|| splice(from, to.as_fd()))
        }
        (KernelEnd::Pipe(from), KernelEnd::Pipe(to) | KernelEnd::Socket(to))
        | (KernelEnd::Socket(from), KernelEnd::Pipe(to)) => splice(from.fd(), to.fd()),
        (KernelEnd::Socket(_), KernelEnd::File(_) | KernelEnd::Socket(_)) => Err(Errno::INVAL),
    }
}

/// Returns whether `end` is a regular file or not a file.
fn is_regular(end: &End<'_>) -> io::Result<bool> {
    match end.0 {
        KernelEnd::File(file) => file.metadata().map(|metadata| metadata.is_file()),
        KernelEnd::Pipe(_) | KernelEnd::Socket(_) => Ok(true),
    }
}

fn hold_nonblocking<'a>(end: &End<'a>) -> io::Result<Option<NonblockingGuard<'a>>> {
    match end.0 {
        KernelEnd::Socket(socket) => socket.hold_nonblocking().map(Some),
        KernelEnd::Pipe(_) | KernelEnd::File(_) => Ok(None),
    }
}

#[track_caller]
fn wait(end: &End<'_>, direction: Direction) -> io::Result<()> {
    match end.0 {
        KernelEnd::Socket(stream) | KernelEnd::Pipe(stream) => stream.wait(direction),
        KernelEnd::File(_) => Ok(()),
    }
}

/// Implements the traits for a type. Used as `KernelSource, reader, Read: File, |file|
/// KernelEnd::File(&file.inner);`.
macro_rules! kernel_ends {
    ($($trait:ident, $method:ident, $way:ident: $type:ty, $kind:expr;)*) => {$(
        impl $crate::io::$trait for $type {
            fn end(&self) -> $crate::io::kernel_copy::End<'_> {
                let kind: for<'a> fn(&'a $type) -> $crate::io::kernel_copy::KernelEnd<'a> = $kind;
                $crate::io::kernel_copy::End(kind(self))
            }

            fn $method(&self) -> Box<dyn std::io::$way + '_> {
                Box::new(self)
            }
        }
    )*};
}
pub(crate) use kernel_ends;

#[cfg(test)]
mod tests {
    use super::{CopyOutcome, KernelSink, KernelSource, by_kernel};
    use crate::fs::File;
    use crate::io::{Write, pipe};
    use crate::os::unix::net::UnixStream;

    /// Runs the kernel's part of a copy.
    fn part(source: &impl KernelSource, sink: &impl KernelSink) -> (CopyOutcome, u64) {
        let mut copied = 0;
        let outcome = by_kernel(&source.end(), &sink.end(), &mut copied).unwrap();
        (outcome, copied)
    }

    fn sources() -> (File, impl KernelSource, impl KernelSource) {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"some").unwrap();
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        theirs.write_all(b"some").unwrap();
        let file: File =
            std::fs::File::from(rustix::fs::memfd_create("source", rustix::fs::MemfdFlags::CLOEXEC).unwrap())
                .into();
        (&file).write_all(b"some").and_then(|()| std::io::Seek::rewind(&mut &file)).unwrap();
        (file, reader, ours)
    }

    #[test]
    fn the_kernel_copies_where_it_can() {
        let (sink, _kept) = UnixStream::pair().unwrap();
        let (file, reader, stream) = sources();
        assert_eq!(
            (part(&file, &sink), part(&reader, &sink)),
            ((CopyOutcome::Ended, 4), (CopyOutcome::Ended, 4))
        );
        assert_eq!(part(&stream, &sink), (CopyOutcome::Refused, 0));
        let (_kept, sink) = pipe().unwrap();
        let (file, reader, stream) = sources();
        assert_eq!(
            (part(&file, &sink), part(&reader, &sink)),
            ((CopyOutcome::Ended, 4), (CopyOutcome::Ended, 4))
        );
        assert_eq!(part(&stream, &sink), (CopyOutcome::Ended, 4));
        let (sink, _, _) = sources();
        let (file, reader, stream) = sources();
        assert_eq!(
            (part(&file, &sink), part(&reader, &sink)),
            ((CopyOutcome::Ended, 4), (CopyOutcome::Ended, 4))
        );
        assert_eq!(part(&stream, &sink), (CopyOutcome::Refused, 0));
    }
}
