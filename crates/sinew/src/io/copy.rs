//! Copies from a reader to a writer. Knows neither of them.

use std::io::{self, BufRead, Read, Write};

use crate::fiber;
use crate::rt;

/// How many bytes one read takes at most. The buffer is on the heap, because a fiber's stack is
/// small.
const CHUNK: usize = 16 << 10;

/// Other fibers run after this many reads. These take about 100 µs if neither end ever waits.
const TURN: u32 = 32;

/// Copies all bytes from a reader to a writer, and returns their number. As [`std::io::copy`].
///
/// ```
/// use sinew::io;
///
/// let mut copied = Vec::new();
/// assert_eq!(io::copy(&mut &b"all of it"[..], &mut copied)?, 9);
/// # Ok::<(), io::Error>(())
/// ```
///
/// If both ends are always ready, the fiber yields from time to time. The copy observes
/// cancellation and deadlines even if the ends do not.
///
/// # Shortcuts
///
/// [`std::io::copy`] takes shortcuts for some types by specialization, which only std can use. Here
/// they are separate functions:
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
/// Returns the errors of the reader and the writer, and an error if the caller is stopped. Retries
/// [interrupted](io::ErrorKind::Interrupted) reads and writes. Bytes that were copied before stay
/// copied.
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

/// How many bytes of a buffer one write takes at most, so that other fibers run in between.
const PART: usize = 1 << 20;

/// Copies all bytes from a buffered reader to a writer, and returns their number. As [`copy`], but
/// writes from the reader's own buffer, however large that is.
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
/// As [`copy`]. If the writer fails, the bytes that it was given last are still in the reader.
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
