//! Reads and writes buffers completely, as the default methods of std's traits do. Functions of
//! this crate have `track_caller`, so that a `Stopped` names the caller. Knows no kind of stream.

use std::io::{self, ErrorKind, Read, Write};

/// Fills the buffer, as the default of [`Read::read_exact`].
///
/// # Errors
///
/// Returns the errors of the reader, and an error if the input ends too early. Retries interrupted
/// reads.
#[inline]
#[track_caller]
pub(crate) fn read_exact<R: Read>(reader: &mut R, mut buf: &mut [u8]) -> io::Result<()> {
    while !buf.is_empty() {
        match reader.read(buf) {
            Ok(0) => return Err(too_short()),
            Ok(read) => buf = &mut buf[read..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the whole buffer, as the default of [`Write::write_all`].
///
/// # Errors
///
/// Returns the errors of the writer, and an error if it accepts no more bytes. Retries interrupted
/// writes.
#[inline]
#[track_caller]
pub(crate) fn write_all<W: Write>(writer: &mut W, mut buf: &[u8]) -> io::Result<()> {
    while !buf.is_empty() {
        match writer.write(buf) {
            Ok(0) => return Err(too_full()),
            Ok(written) => buf = &buf[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns std's own error, which only std can construct.
#[cold]
fn too_short() -> io::Error {
    let error = io::empty().read_exact(&mut [0]);
    error.expect_err("there is nothing to read")
}

/// Returns std's own error, which only std can construct.
#[cold]
fn too_full() -> io::Error {
    let error = [0_u8; 0].as_mut_slice().write_all(&[0]);
    error.expect_err("there is no room")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of successive calls: a number of bytes, or an error.
    struct Script<'a>(&'a [Result<usize, ErrorKind>], Vec<u8>);

    impl Script<'_> {
        fn next(&mut self, most: usize) -> io::Result<usize> {
            let (first, rest) = self.0.split_first().expect("no further call");
            self.0 = rest;
            first.map(|len| len.min(most)).map_err(io::Error::from)
        }
    }

    impl Read for Script<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let len = self.next(buf.len())?;
            buf[..len].fill(self.0.len() as u8 + 1);
            Ok(len)
        }
    }

    impl Write for Script<'_> {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            let len = self.next(buf.len())?;
            self.1.extend_from_slice(&buf[..len]);
            Ok(len)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const SCRIPTS: [&[Result<usize, ErrorKind>]; 6] = [
        &[Ok(5)],
        &[Ok(1), Err(ErrorKind::Interrupted), Ok(1), Err(ErrorKind::Interrupted), Ok(3)],
        &[Ok(4), Ok(0)],
        &[Ok(0)],
        &[Ok(2), Err(ErrorKind::WouldBlock)],
        &[Err(ErrorKind::Other)],
    ];

    #[test]
    fn read_exact_behaves_as_std() {
        for script in SCRIPTS {
            let (mut ours, mut std) = ([0; 5], [0; 5]);
            let mut script_of_ours = Script(script, Vec::new());
            let by_us = read_exact(&mut script_of_ours, &mut ours);
            let by_std = Script(script, Vec::new()).read_exact(&mut std);
            assert_eq!(format!("{by_us:?} {ours:?}"), format!("{by_std:?} {std:?}"));
            assert!(script_of_ours.0.is_empty());
        }
        assert!(read_exact(&mut Script(&[], Vec::new()), &mut []).is_ok());
    }

    #[test]
    fn write_all_behaves_as_std() {
        for script in SCRIPTS {
            let (mut ours, mut std) = (Script(script, Vec::new()), Script(script, Vec::new()));
            let results = (write_all(&mut ours, b"hello"), std.write_all(b"hello"));
            assert_eq!(format!("{:?} {:?}", results.0, ours.1), format!("{:?} {:?}", results.1, std.1));
            assert!(ours.0.is_empty());
        }
        assert!(write_all(&mut Script(&[], Vec::new()), &[]).is_ok());
    }
}
