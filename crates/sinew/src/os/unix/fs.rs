//! Files on Unix, with the names of [`std::os::unix::fs`].
//!
//! The functions are those of [`fs`](crate::fs), which suspend the calling fiber. The traits are
//! std's, and this crate's types implement them.
//!
//! ```
//! use sinew::fs::File;
//! use sinew::os::fd::AsRawFd;
//! use sinew::os::unix::fs::{FileExt, MetadataExt};
//!
//! let program = File::open(std::env::current_exe()?)?;
//! let mut magic = [0; 3];
//! program.read_exact_at(&mut magic, 1)?;
//! assert_eq!(&magic, b"ELF");
//! assert!(program.metadata()?.ino() > 0 && program.as_raw_fd() > 2);
//! # Ok::<(), std::io::Error>(())
//! ```

pub use crate::fs::unix::{chown, chroot, fchown, lchown, symlink};

pub use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};
