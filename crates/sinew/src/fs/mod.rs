//! Files and directories, under the names of [`std::fs`].
//!
//! A system call on a file blocks the thread that makes it, and there is nothing to wait with instead. So every call here is made
//! [by another thread](mod@crate::blocking) while the calling fiber waits; a plain thread makes it itself. It costs a few microseconds more than the call: read and write
//! much at a time, or through a [`BufReader`](std::io::BufReader) and a [`BufWriter`](std::io::BufWriter).
//!
//! What is different from std:
//!
//! - [Cancellation and deadlines](crate::fiber#stopping) are observed before a call begins: it fails then, and nothing is done. A call that has begun goes
//!   on to its end, also one that waits for long, such as [`File::lock`], or opening a FIFO that nobody writes to: nobody can interrupt it. A FIFO or a device is better
//!   opened with `O_NONBLOCK` ([`custom_flags`](std::os::unix::fs::OpenOptionsExt::custom_flags)), and waited for by [`io::Fd`](crate::io::Fd).
//! - Inside [`no_suspend`](crate::fiber::no_suspend) a call panics.
//! - Dropping a [`File`] or a [`ReadDir`] closes it where it is dropped, on the worker's thread: nothing waits in a destructor. On most file systems
//!   that takes no time; on one that is far away, [`File::sync_all`] before it leaves nothing to do. [`File::try_clone`] takes no time either, and is made here.
//! - [`ReadDir`] and [`File`] are types of their own, with conversions from and to std's. [`Metadata`], [`Permissions`], [`FileType`], [`FileTimes`] and
//!   [`TryLockError`] are std's. std's traits in [`std::os::unix::fs`] are implemented; its functions are in
//!   [`unix`], and both in [`os::unix::fs`](crate::os::unix::fs).
//! - std's `Read`, `Write` and `Seek` cannot be implemented for `Arc<File>` outside of std: use
//!   `&*file`, since they are implemented for `&File`. std's `IsTerminal` cannot be implemented
//!   either: [`io::IsTerminal`](crate::io::IsTerminal) stands in for it. There is no `soft_link`,
//!   which std has deprecated.
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

/// Makes a call that may block, unless the caller is to stop.
#[track_caller]
fn call<R: Send>(body: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    let at = Location::caller();
    rt::check_stop().map_err(|stop| Stopped::new(stop, at))?;
    rt::blocking(body)
}
