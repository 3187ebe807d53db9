//! Pipes, with std's names.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};

use super::descriptor::descriptor;
use super::forward::{forward_read, forward_write, reads_exactly, writes_all};
use super::handle::IoHandle;
use super::kernel_copy::kernel_ends;
use super::slices::{after, room};
use super::socket_settings::Patience;
use crate::rt::io::Direction;

/// Creates a pipe, as [`std::io::pipe`].
///
/// ```
/// use sinew::{fiber, io};
/// use sinew::io::{Read, Write};
///
/// let (mut reader, mut writer) = io::pipe()?;
/// let all = fiber::spawn(move || io::read_to_string(&mut reader));
/// writer.write_all(b"through")?;
/// drop(writer);
/// assert_eq!(all.join().unwrap()?, "through");
/// # Ok::<(), io::Error>(())
/// ```
///
/// # Errors
///
/// Returns any error of the system call, for example if the process has too many descriptors.
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// The reading end of a pipe: [`std::io::PipeReader`], for fibers and threads. It can be made of
/// std's type, or of the output of a child process:
///
/// ```
/// use sinew::io::{self, PipeReader};
/// use std::process::{Command, Stdio};
///
/// sinew::run(|| {
///     let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
///     let output = PipeReader::from(child.stdout.take().unwrap());
///     assert_eq!(io::read_to_string(output)?, "hello\n");
///     // This method is std's, and blocks its thread until the child has ended.
///     assert!(sinew::blocking(|| child.wait())?.success());
///     Ok::<(), io::Error>(())
/// })?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// Only the pipes of a child suspend the fiber. [`Child::wait`](std::process::Child::wait),
/// [`Command::status`](std::process::Command::status) and
/// [`Command::output`](std::process::Command::output) block the worker: call them inside
/// [`blocking`](crate::blocking()).
///
/// The descriptor is non-blocking (`O_NONBLOCK`) as long as it is ours, and so are its duplicates,
/// also those in other processes. The other end is not affected. When this end becomes std's, a
/// child's or a plain descriptor, it gets its former mode back. With [clones](Self::try_clone),
/// this happens when the last of them is converted, and not if the last is dropped.
///
/// So a child that is given a clone while another clone is kept gets a non-blocking descriptor, and
/// most programs treat the resulting `EAGAIN` as an error. Give the child the only handle. Or make
/// the pipe with [`std::io::pipe`], give the child one end, and convert the other end to this
/// crate's type.
///
/// Calls observe cancellation and deadlines.
pub struct PipeReader {
    pub(super) handle: IoHandle<io::PipeReader>,
}

/// The writing end of a pipe: [`std::io::PipeWriter`], for fibers and threads. Its descriptor
/// behaves as that of [`PipeReader`].
///
/// Bytes that one call writes are not mixed with those of other writers if they are at most
/// `PIPE_BUF` (4,096), as in any pipe.
pub struct PipeWriter {
    pub(super) handle: IoHandle<io::PipeWriter>,
}

impl PipeReader {
    /// Returns another handle to this end. Each byte goes to one of the handles.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
    }
}

impl PipeWriter {
    /// Returns another handle to this end. The end stays open until all handles are dropped.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
    }
}

impl Read for &PipeReader {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.handle.call(Direction::Read, Patience::to_move(buf.len()), |mut pipe| pipe.read(buf))
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.handle.call(Direction::Read, Patience::to_move(room(bufs)), |mut pipe| pipe.read_vectored(bufs))
    }

    reads_exactly!();
}

impl Read for PipeReader {
    forward_read!(|this| &*this);
}

impl Write for &PipeWriter {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.handle.write_stream(buf.len(), |mut pipe, start| pipe.write(&buf[start..]))
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.handle.write_stream(room(bufs), |mut pipe, start| match start {
            0 => pipe.write_vectored(bufs),
            _ => pipe.write_vectored(&after(bufs, start)),
        })
    }

    writes_all!();

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for PipeWriter {
    forward_write!(|this| &*this);
}

/// Implements the conversions of both ends.
macro_rules! convert {
    ($end:ident) => {
        descriptor!($end, io::$end, |end| Self { handle: IoHandle::nonblocking(end) }, |end| end
            .handle
            .into_blocking());

        impl From<$end> for Stdio {
            fn from(pipe: $end) -> Self {
                io::$end::from(pipe).into()
            }
        }
    };
}

convert!(PipeReader);
convert!(PipeWriter);

impl From<ChildStdout> for PipeReader {
    fn from(output: ChildStdout) -> Self {
        OwnedFd::from(output).into()
    }
}

impl From<ChildStderr> for PipeReader {
    fn from(output: ChildStderr) -> Self {
        OwnedFd::from(output).into()
    }
}

impl From<ChildStdin> for PipeWriter {
    fn from(input: ChildStdin) -> Self {
        OwnedFd::from(input).into()
    }
}

kernel_ends! {
    KernelSource, reader, Read: PipeReader, |pipe| super::kernel_copy::KernelEnd::Pipe(&pipe.handle);
    KernelSink, writer, Write: PipeWriter, |pipe| super::kernel_copy::KernelEnd::Pipe(&pipe.handle);
}
