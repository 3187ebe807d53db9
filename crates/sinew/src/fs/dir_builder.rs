//! How a directory is to be made.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::call;

/// How a directory is to be made, as [`std::fs::DirBuilder`]. [`DirBuilderExt`] is implemented too.
///
/// ```
/// let directory = std::env::temp_dir().join(format!("sinew-doc-dir-{}", std::process::id()));
/// sinew::fs::DirBuilder::new().recursive(true).create(directory.join("inside"))?;
/// sinew::fs::remove_dir_all(directory)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DirBuilder(fs::DirBuilder);

impl fmt::Debug for DirBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl DirBuilder {
    /// One that makes a single directory, for all to use.
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    #[must_use]
    pub fn new() -> Self {
        Self(fs::DirBuilder::new())
    }

    /// Whether those around it are made too that are missing.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.0.recursive(recursive);
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn create<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        let path = path.as_ref();
        call(|| self.0.create(path))
    }
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.0.mode(mode);
        self
    }
}
