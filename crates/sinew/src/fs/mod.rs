//! Files and directories, with the names of [`std::fs`].
//!
//! A system call on a file blocks its thread, and the kernel offers no readiness to wait for. So
//! every call here runs [on another thread](mod@crate::blocking) while the calling fiber waits; a
//! plain thread runs it itself. This costs a few microseconds per call. Read and write large
//! amounts at a time, or use a [`BufReader`](std::io::BufReader) and a
//! [`BufWriter`](std::io::BufWriter).
//!
//! Differences from std:
//!
//! - [Cancellation and deadlines](crate::fiber#stopping) are observed before a call begins: a
//!   stopped caller gets an error, and nothing is done. A call that has begun runs to its end and
//!   cannot be interrupted, even if it takes long, such as [`File::lock`], or opening a FIFO that
//!   has no writer. It is better to open a FIFO or a device with `O_NONBLOCK`
//!   ([`custom_flags`](std::os::unix::fs::OpenOptionsExt::custom_flags)) and to wait for it with
//!   [`io::Fd`](crate::io::Fd).
//! - Inside [`no_suspend`](crate::fiber::no_suspend) a call panics.
//! - Dropping a [`File`] or a [`ReadDir`] closes it on the worker's thread, because destructors do
//!   not wait. Most file systems close without delay. On a network file system, call
//!   [`File::sync_all`] first, so that closing has nothing left to write. [`File::try_clone`] does
//!   not block and also runs on the worker's thread.
//! - [`ReadDir`] and [`File`] are types of this module, with conversions from and to std's.
//!   [`Metadata`], [`Permissions`], [`FileType`], [`FileTimes`] and [`TryLockError`] are std's. The
//!   traits of [`std::os::unix::fs`] are implemented; its functions are in [`unix`], and both are
//!   in [`os::unix::fs`](crate::os::unix::fs).
//! - std's `Read`, `Write` and `Seek` cannot be implemented for `Arc<File>` outside of std. They
//!   are implemented for `&File`: use `&*file`. std's `IsTerminal` cannot be implemented either:
//!   use [`io::IsTerminal`](crate::io::IsTerminal). There is no `soft_link`, which std has
//!   deprecated.
//!
//! ```
//! use sinew::fs::{self, File};
//! use std::io::{Read, Write};
//!
//! # let directory = std::env::temp_dir().join(format!("sinew-doc-fs-{}", std::process::id()));
//! sinew::run(move || {
//!     fs::create_dir_all(&directory)?;
//!     let mut file = File::create(directory.join("greeting"))?;
//!     file.write_all(b"hello")?;
//!     let mut text = String::new();
//!     File::open(directory.join("greeting"))?.read_to_string(&mut text)?;
//!     assert_eq!(text, "hello");
//!     fs::remove_dir_all(&directory)
//! })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod dir_builder;
mod file;
mod file_io;
mod open_options;
mod paths;
mod raw_fd;
mod read_dir;
mod times;
pub mod unix;

pub use std::fs::{FileTimes, FileType, Metadata, Permissions, TryLockError};

pub use dir_builder::DirBuilder;
pub use file::File;
pub use open_options::OpenOptions;
pub use paths::{
    canonicalize, copy, create_dir, create_dir_all, exists, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink_metadata,
    write,
};
pub use read_dir::{DirEntry, ReadDir, read_dir};
pub use times::{set_times, set_times_nofollow};

use std::io;
use std::panic::Location;

use crate::fiber::Stopped;
use crate::rt;

/// Runs a call that may block, unless the caller is stopped.
#[track_caller]
fn call<R: Send>(body: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    let at = Location::caller();
    rt::check_stop().map_err(|stop| Stopped::new(stop, at))?;
    rt::blocking(body)
}
