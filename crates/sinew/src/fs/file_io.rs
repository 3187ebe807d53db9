//! Reading, writing and seeking in files.

use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::call;
use super::file::File;
use crate::io::kernel_copy::{KernelEnd, kernel_ends};
use crate::io::{forward, forward_read, forward_write};

impl Read for &File {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        call(|| (&self.inner).read(buf))
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        call(|| (&self.inner).read_vectored(bufs))
    }

    #[track_caller]
    fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        call(|| (&self.inner).read_exact(buf))
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        call(|| (&self.inner).read_to_end(buf))
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        call(|| (&self.inner).read_to_string(buf))
    }
}

impl Write for &File {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        call(|| (&self.inner).write(buf))
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        call(|| (&self.inner).write_vectored(bufs))
    }

    #[track_caller]
    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        call(|| (&self.inner).write_all(buf))
    }

    /// Does nothing, as std's.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        call(|| (&self.inner).seek(pos))
    }

    #[track_caller]
    fn stream_position(&mut self) -> io::Result<u64> {
        call(|| (&self.inner).stream_position())
    }

    #[track_caller]
    fn rewind(&mut self) -> io::Result<()> {
        call(|| (&self.inner).rewind())
    }

    #[track_caller]
    fn seek_relative(&mut self, offset: i64) -> io::Result<()> {
        call(|| (&self.inner).seek_relative(offset))
    }
}

impl Read for File {
    forward_read!(|this| &*this);
}

impl Write for File {
    forward_write!(|this| &*this);
}

impl Seek for File {
    forward! {
        |this| &*this;
        seek(pos: SeekFrom) -> u64;
        stream_position() -> u64;
        rewind() -> ();
        seek_relative(offset: i64) -> ();
    }
}

impl FileExt for File {
    #[track_caller]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        call(|| self.inner.read_at(buf, offset))
    }

    #[track_caller]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        call(|| self.inner.read_exact_at(buf, offset))
    }

    #[track_caller]
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        call(|| self.inner.write_at(buf, offset))
    }

    #[track_caller]
    fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        call(|| self.inner.write_all_at(buf, offset))
    }
}

kernel_ends! {
    KernelSource, reader, Read: File, |file| KernelEnd::File(&file.inner);
    KernelSink, writer, Write: File, |file| KernelEnd::File(&file.inner);
}
