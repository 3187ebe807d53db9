//! What can be read from and written to by a shared reference, is so by an exclusive one, too. Knows no kind of it.

/// Reads from a type as from a reference to it.
macro_rules! read_by_reference {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> std::io::Read for $type {
            #[inline]
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                (&*self).read(buf)
            }

            #[track_caller]
            fn read_vectored(&mut self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                (&*self).read_vectored(bufs)
            }

            $crate::io::reads_exactly!();
        }
    };
}

/// Writes to a type as to a reference to it.
macro_rules! write_by_reference {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> std::io::Write for $type {
            #[inline]
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                (&*self).write(buf)
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                (&*self).write_vectored(bufs)
            }

            $crate::io::writes_all!();

            #[inline]
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
    };
}

/// What std provides with [`Read`](std::io::Read), except that it names its caller to whoever is to stop.
macro_rules! reads_exactly {
    () => {
        #[inline]
        #[track_caller]
        fn read_exact(&mut self, buf: &mut [u8]) -> std::io::Result<()> {
            $crate::io::exact::read_exact(self, buf)
        }
    };
}

/// What std provides with [`Write`](std::io::Write), except that it names its caller to whoever is to stop.
macro_rules! writes_all {
    () => {
        #[inline]
        #[track_caller]
        fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
            $crate::io::exact::write_all(self, buf)
        }
    };
}

pub(crate) use {read_by_reference, reads_exactly, write_by_reference, writes_all};
