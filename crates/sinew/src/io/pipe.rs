//! Pipes, with the names of std.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};

use super::descriptor::descriptor;
use super::forward::{forward_read, forward_write, reads_exactly, writes_all};
use super::handle::IoHandle;
use super::kernel_copy::{KernelEnd, kernel_ends};
use super::slices::{after, room};
use super::socket_settings::Patience;
use crate::rt::io::Direction;

/// Makes a pipe. As [`std::io::pipe`].
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
/// As the kernel has them: there are too many descriptors, say.
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// The end of a pipe that is read from. As [`std::io::PipeReader`], and it is made of one, or of what a child process writes to:
///
/// ```
/// use sinew::io::{self, PipeReader};
/// use std::process::{Command, Stdio};
///
/// sinew::run(|| {
///     let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
///     let output = PipeReader::from(child.stdout.take().unwrap());
///     assert_eq!(io::read_to_string(output)?, "hello\n");
///     // This is std's, and blocks its thread until the child has ended.
///     assert!(sinew::blocking(|| child.wait())?.success());
///     Ok::<(), io::Error>(())
/// })?;
/// # Ok::<(), io::Error>(())
/// ```
///
/// Of a child only its pipes give way. [`Child::wait`](std::process::Child::wait), [`Command::status`](std::process::Command::status) and
/// [`Command::output`](std::process::Command::output) block the worker, and belong inside [`blocking`](crate::blocking()).
///
/// As long as it is ours, calls on it do not wait in the kernel (`O_NONBLOCK`). The other end, and whoever has it, is not concerned by that, but
/// duplicates of this end are, those of other processes too. When it becomes somebody else's again (std's, a child's, a plain descriptor), that is
/// set back to what it was; if there are [clones](Self::try_clone), when the last of them does; and not if that is dropped. So a child that is given a clone while another one is kept
/// finds that its calls do not wait, and most programs take that (`EAGAIN`) for an error: give it the only one, or make the pipe by [`std::io::pipe`], give
/// the child that one's end, and make ours of the end that is kept.
///
/// Calls observe cancellation and deadlines.
pub struct PipeReader {
    pub(super) handle: IoHandle<io::PipeReader>,
}

/// The end of a pipe that is written to. As [`std::io::PipeWriter`], and what [`PipeReader`] says of itself holds for it too.
///
/// What is written by one call, and is no longer than `PIPE_BUF` (4,096 bytes), stays together, as in any pipe.
pub struct PipeWriter {
    pub(super) handle: IoHandle<io::PipeWriter>,
}

impl PipeReader {
    /// Another one for the same end. Either reads what the other does not.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
    }
}

impl PipeWriter {
    /// Another one for the same end, which is open until all are gone.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
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

/// What both ends become, and are made of.
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
    KernelSource, reader, Read: PipeReader, |pipe| KernelEnd::Pipe(&pipe.handle);
    KernelSink, writer, Write: PipeWriter, |pipe| KernelEnd::Pipe(&pipe.handle);
}
