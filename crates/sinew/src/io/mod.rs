//! I/O that suspends the fiber instead of blocking its worker, with the names of [`std::io`].
//!
//! The traits and plain types are std's own, so `use sinew::io` can replace `use std::io`.
//! [`pipe()`], [`stdin()`], [`stdout()`], [`stderr()`], [`copy()`], [`copy_buf()`],
//! [`copy_bidirectional()`] and [`kernel_copy()`] are this crate's: a fiber waits in them while its
//! worker runs other fibers, and a plain thread blocks. [`Fd`] makes the same possible for any
//! descriptor that the kernel can report as ready. [`println!`] and its siblings are std's, and
//! [differ from `stdout()`](fn@stdout#instead-of-println) in what they exclude and block.
//!
//! Every wait ends with an error if the caller is [cancelled](crate::fiber#stopping) or its
//! deadline passes. The error contains a [`Stopped`](crate::fiber::Stopped).
//!
//! ```
//! use sinew::fiber;
//! use sinew::io::{self, BufRead, BufReader, Write};
//!
//! let (reader, mut writer) = io::pipe()?;
//! let first = fiber::spawn(move || BufReader::new(reader).lines().next());
//! writeln!(writer, "from one fiber to another")?;
//! assert_eq!(first.join().unwrap().unwrap()?, "from one fiber to another");
//! # Ok::<(), io::Error>(())
//! ```

mod adopt;
#[cfg(feature = "blocking")]
mod at_exit;
mod both_ways;
mod copy;
mod descriptor;
pub(crate) mod exact;
mod fd;
mod forward;
mod handle;
#[cfg(feature = "blocking")]
mod input;
mod is_terminal;
#[cfg(feature = "fs")]
pub(crate) mod kernel_copy;
#[cfg(not(feature = "fs"))]
#[path = "no_kernel_copy.rs"]
pub(crate) mod kernel_copy;
mod nonblocking;
#[cfg(feature = "blocking")]
mod output;
mod pipe;
mod raw;
mod ready;
#[cfg(feature = "blocking")]
mod shared_writer;
pub(crate) mod slices;
#[cfg(feature = "net")]
mod socket_calls;
mod socket_settings;
#[cfg(feature = "blocking")]
mod stderr;
#[cfg(feature = "blocking")]
mod stdin;
#[cfg(feature = "blocking")]
mod stdout;
#[cfg(test)]
mod tests;

pub(crate) use adopt::adopt;
pub(crate) use descriptor::descriptor;
pub(crate) use forward::{forward, forward_read, forward_write, reads_exactly, writes_all};
pub(crate) use handle::{IoHandle, would_block};
pub(crate) use raw::from_raw_fd;
#[cfg(feature = "net")]
pub(crate) use socket_calls::socket_calls;
pub(crate) use socket_settings::Patience;

pub use both_ways::{HalfClose, copy_bidirectional};
pub use copy::{copy, copy_buf};
pub use fd::{Fd, FdError};
pub use is_terminal::IsTerminal;
#[cfg(feature = "fs")]
pub use kernel_copy::{KernelSink, KernelSource, kernel_copy};
pub use pipe::{PipeReader, PipeWriter, pipe};
#[cfg(feature = "blocking")]
pub use stderr::{Stderr, StderrLock, stderr};
#[cfg(feature = "blocking")]
pub use stdin::{Stdin, StdinLock, stdin};
#[cfg(feature = "blocking")]
pub use stdout::{Stdout, StdoutLock, stdout};

pub use std::io::{
    BufRead, BufReader, BufWriter, Bytes, Chain, Cursor, Empty, Error, ErrorKind, IntoInnerError, IoSlice,
    IoSliceMut, LineWriter, Lines, Read, Repeat, Result, Seek, SeekFrom, Sink, Split, Take, Write,
    WriterPanicked, empty, prelude, read_to_string, repeat, sink,
};
