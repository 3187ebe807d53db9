//! Writing to stream sockets, written once for all kinds.

/// Implements a stream's I/O except `Read` for references.
macro_rules! stream_writes {
    ($stream:ident) => {
        impl std::io::Write for &$stream {
            #[inline]
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                self.handle.write_stream(buf.len(), |socket, start| $crate::net::calls::send(socket, &buf[start..]))
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                match $crate::io::slices::room(bufs) {
                    0 => Ok(0),
                    len => {
                        self.handle.write_stream(len, |socket, start| $crate::net::calls::send_vectored_from(socket, bufs, start))
                    }
                }
            }

            $crate::io::writes_all!();

            #[inline]
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        impl std::io::Read for $stream {
            $crate::io::forward_read!(|this| &*this);
        }

        impl std::io::Write for $stream {
            $crate::io::forward_write!(|this| &*this);
        }

        impl $crate::io::HalfClose for $stream {
            fn end_writing(&self) -> std::io::Result<()> {
                self.shutdown(std::net::Shutdown::Write)
            }
        }

        $crate::io::kernel_copy::kernel_ends! {
            KernelSource, reader, Read: $stream, |stream| $crate::io::kernel_copy::KernelEnd::Socket(&stream.handle);
            KernelSink, writer, Write: $stream, |stream| $crate::io::kernel_copy::KernelEnd::Socket(&stream.handle);
        }
    };
}

pub(crate) use stream_writes;
