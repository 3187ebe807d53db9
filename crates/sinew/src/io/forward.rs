//! Methods of `Read`, `Write` and `Seek` that forward to another value. Knows no type that has
//! them.

/// Implements methods by calling the same methods on the value that the expression makes of `self`.
macro_rules! forward {
    (|$this:ident| $target:expr; $($name:ident($($argument:ident: $type:ty)?) -> $result:ty;)*) => { $(
        #[inline]
        #[track_caller]
        fn $name(&mut self, $($argument: $type)?) -> std::io::Result<$result> {
            let $this = self;
            ($target).$name($($argument)?)
        }
    )* };
}

/// [Forwards](forward) the methods of [`Read`](std::io::Read).
macro_rules! forward_read {
    (|$this:ident| $target:expr) => {
        $crate::io::forward! {
            |$this| $target;
            read(buf: &mut [u8]) -> usize;
            read_vectored(bufs: &mut [std::io::IoSliceMut<'_>]) -> usize;
            read_exact(buf: &mut [u8]) -> ();
            read_to_end(buf: &mut Vec<u8>) -> usize;
            read_to_string(buf: &mut String) -> usize;
        }
    };
}

/// [Forwards](forward) the methods of [`Write`](std::io::Write).
macro_rules! forward_write {
    (|$this:ident| $target:expr) => {
        $crate::io::forward! {
            |$this| $target;
            write(buf: &[u8]) -> usize;
            write_vectored(bufs: &[std::io::IoSlice<'_>]) -> usize;
            write_all(buf: &[u8]) -> ();
            flush() -> ();
        }
    };
}

/// Implements [`read_exact`](std::io::Read::read_exact) as std's default does, with `track_caller`,
/// so that a `Stopped` names the caller.
macro_rules! reads_exactly {
    () => {
        #[inline]
        #[track_caller]
        fn read_exact(&mut self, buf: &mut [u8]) -> std::io::Result<()> {
            $crate::io::exact::read_exact(self, buf)
        }
    };
}

/// Implements [`write_all`](std::io::Write::write_all) as std's default does, with `track_caller`,
/// so that a `Stopped` names the caller.
macro_rules! writes_all {
    () => {
        #[inline]
        #[track_caller]
        fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
            $crate::io::exact::write_all(self, buf)
        }
    };
}

pub(crate) use {forward, forward_read, forward_write, reads_exactly, writes_all};
