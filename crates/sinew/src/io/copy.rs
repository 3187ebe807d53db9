//! Copying from a reader to a writer. Knows neither of them.

use std::io::{self, Read, Write};

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
/// A fiber that finds both ends ready time and again gives way now and then, and observes cancellation and deadlines whatever the ends do. The kernel
/// does none of the copying by itself, as it may for std's.
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
