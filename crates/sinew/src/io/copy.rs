//! Copying from a reader to a writer. Knows neither of them.

use std::io::{self, BufRead, Read, Write};

use crate::fiber;
use crate::rt;

/// So much is read at a time, into memory that is not on the stack: that of a fiber is small.
const CHUNK: usize = 16 << 10;

/// Others have their turn after so many, which take some 100 µs between two ends that never wait.
const TURN: u32 = 32;

/// Copies all that comes from a reader to a writer, and returns how many bytes that were. As [`std::io::copy`].
///
/// ```
/// use sinew::io;
///
/// let mut copied = Vec::new();
/// assert_eq!(io::copy(&mut &b"all of it"[..], &mut copied)?, 9);
/// # Ok::<(), io::Error>(())
/// ```
///
/// A fiber that finds both ends ready time and again gives way now and then, and observes
/// cancellation and deadlines whatever the ends do.
///
/// # Shortcuts
///
/// [`std::io::copy`] finds out what it is given, and takes a shortcut for some types. That needs a
/// feature of the language which is not stable, so there are functions of their own here:
///
/// - If the reader has a buffer, [`copy_buf`] writes what is in it: for a
///   [`BufReader`](io::BufReader), a slice, a [`VecDeque<u8>`](std::collections::VecDeque), a
///   [`Cursor`](io::Cursor), or [`StdinLock`](super::StdinLock).
/// - Between files, sockets and pipes of this crate the kernel copies:
///   [`kernel_copy`](super::kernel_copy()).
/// - A writer's own buffer, that of a `Vec<u8>` or a [`BufWriter`](io::BufWriter), is not read into
///   directly, as std does.
///
/// # Errors
///
/// As the reader and the writer have them, except that what was [interrupted](io::ErrorKind::Interrupted) is tried again; and if the caller is to stop.
/// What was copied before that stays so.
#[track_caller]
pub fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let mut buffer = vec![0; CHUNK];
    let mut copied = 0;
    loop {
        fiber::checkpoint()?;
        for _ in 0..TURN {
            let read = match reader.read(&mut buffer) {
                Ok(0) => return Ok(copied),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            writer.write_all(&buffer[..read])?;
            copied += read as u64;
        }
        rt::give_way();
    }
}

/// How much of a buffer is written at a time, so that others have their turn in between.
const PART: usize = 1 << 20;

/// Copies all that comes from a reader with a buffer to a writer, and returns how many bytes that
/// were. As [`copy`], but what is in the reader's buffer is written from there, however large that
/// is.
///
/// ```
/// use sinew::io::{self, BufReader};
///
/// let mut reader = BufReader::with_capacity(1 << 20, &b"all of it"[..]);
/// let mut copied = Vec::new();
/// assert_eq!(io::copy_buf(&mut reader, &mut copied)?, 9);
/// # Ok::<(), io::Error>(())
/// ```
///
/// # Errors
///
/// As [`copy`]. If the writer fails, what it was given last is still in the reader.
#[track_caller]
pub fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: BufRead + ?Sized,
    W: Write + ?Sized,
{
    let mut copied = 0;
    loop {
        fiber::checkpoint()?;
        for _ in 0..TURN {
            let read = match reader.fill_buf() {
                Ok([]) => return Ok(copied),
                Ok(read) => &read[..read.len().min(PART)],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            writer.write_all(read)?;
            let count = read.len();
            reader.consume(count);
            copied += count as u64;
        }
        rt::give_way();
    }
}
