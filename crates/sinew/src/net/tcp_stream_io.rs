//! How bytes go through a TCP connection.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;

use rustix::net::RecvFlags;

use super::calls;
use super::tcp_stream::TcpStream;
use crate::io::kernel_copy::{KernelEnd, kernel_ends};
use crate::io::slices::room;
use crate::io::{HalfClose, read_by_reference, reads_exactly, write_by_reference, writes_all};

impl Read for &TcpStream {
    #[inline]
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let room = buf.len();
        self.handle.read_stream(room, |socket| calls::recv(socket, buf, RecvFlags::empty()))
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match room(bufs) {
            0 => Ok(0),
            room => self.handle.read_stream(room, |socket| calls::recv_vectored(socket, bufs)),
        }
    }

    reads_exactly!();
}

impl Write for &TcpStream {
    #[inline]
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.handle.write_stream(buf.len(), |socket, start| calls::send(socket, &buf[start..]))
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match room(bufs) {
            0 => Ok(0),
            len => {
                self.handle.write_stream(len, |socket, start| calls::send_vectored_from(socket, bufs, start))
            }
        }
    }

    writes_all!();

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

read_by_reference!([] TcpStream);

write_by_reference!([] TcpStream);

impl HalfClose for TcpStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

kernel_ends! {
    KernelSource, reader, Read: TcpStream, |stream| KernelEnd::Socket(&stream.handle);
    KernelSink, writer, Write: TcpStream, |stream| KernelEnd::Socket(&stream.handle);
}
