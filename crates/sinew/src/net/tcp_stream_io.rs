//! Reading from and writing to a TCP connection.

use std::io::{self, IoSliceMut, Read};

use rustix::net::RecvFlags;

use super::calls;
use super::stream_writes::stream_writes;
use super::tcp_stream::TcpStream;
use crate::io::reads_exactly;
use crate::io::slices::room;

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

stream_writes!(TcpStream);
