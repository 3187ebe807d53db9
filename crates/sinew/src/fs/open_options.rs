//! How a file is to be opened.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::call;
use super::file::File;

/// How a file is to be opened, as [`std::fs::OpenOptions`]. [`OpenOptionsExt`] is implemented too.
///
/// ```
/// use sinew::fs::OpenOptions;
///
/// let error = OpenOptions::new().read(true).open("/there/is/no/such/file").unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// ```
#[derive(Clone)]
pub struct OpenOptions(fs::OpenOptions);

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl OpenOptions {
    /// Nothing is set.
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    #[must_use]
    pub fn new() -> Self {
        Self(fs::OpenOptions::new())
    }

    /// For reading.
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.0.read(read);
        self
    }

    /// For writing.
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.0.write(write);
        self
    }

    /// For writing at the end.
    pub fn append(&mut self, append: bool) -> &mut Self {
        self.0.append(append);
        self
    }

    /// Emptied, if it is there.
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.0.truncate(truncate);
        self
    }

    /// Made, if it is not there.
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.0.create(create);
        self
    }

    /// Made, and it is an error if it is there.
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.0.create_new(create_new);
        self
    }

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// As std's, or if the caller is [to stop](crate::fs).
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        let path = path.as_ref();
        call(|| self.0.open(path)).map(File::from)
    }
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.0.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.0.custom_flags(flags);
        self
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> Self {
        Self(options)
    }
}
