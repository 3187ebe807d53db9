//! Files as Unix has them, with the names of [`std::os::unix::fs`]: the functions are ours, and std's traits are for our types too.

pub use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};

pub use crate::fs::unix::{chown, chroot, fchown, lchown, symlink};
