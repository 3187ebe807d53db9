//! Settings for new directories.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::call;

/// Settings for a new directory: [`std::fs::DirBuilder`]. [`DirBuilderExt`] is implemented too.
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
    /// Returns the default settings: a single directory with std's default mode.
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    #[must_use]
    pub fn new() -> Self {
        Self(fs::DirBuilder::new())
    }

    /// Sets whether missing parents are created too.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.0.recursive(recursive);
        self
    }

    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Returns std's errors, and an error if the caller is [stopped](crate::fs).
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
