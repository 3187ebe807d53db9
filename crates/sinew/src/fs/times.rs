//! Changes the times of a file that is named by its path. Knows no open file.

use std::fs::{File, FileTimes};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, MemfdFlags, Timespec, Timestamps, UTIME_OMIT, futimens, memfd_create, utimensat,
};

use super::call;

/// Changes the access and modification times of a file. Follows symbolic links. As
/// `std::fs::set_times`, which is not stable in all supported releases.
///
/// ```
/// use sinew::fs::{self, FileTimes};
/// use std::time::{Duration, SystemTime};
///
/// # let path = std::env::temp_dir().join(format!("sinew-doc-times-{}", std::process::id()));
/// fs::write(&path, "old")?;
/// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
/// fs::set_times(&path, FileTimes::new().set_modified(then))?;
/// assert_eq!(fs::metadata(&path)?.modified()?, then);
/// # fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns any error of the system call, and an error if the caller is [stopped](crate::fs).
#[track_caller]
pub fn set_times<P: AsRef<Path>>(path: P, times: FileTimes) -> io::Result<()> {
    let path = path.as_ref();
    call(|| set(path, times, AtFlags::empty()))
}

/// Changes the access and modification times of a file, or of the symbolic link itself. As
/// `std::fs::set_times_nofollow`, which is not stable in all supported releases.
///
/// # Errors
///
/// As [`set_times`].
#[track_caller]
pub fn set_times_nofollow<P: AsRef<Path>>(path: P, times: FileTimes) -> io::Result<()> {
    let path = path.as_ref();
    call(|| set(path, times, AtFlags::SYMLINK_NOFOLLOW))
}

fn set(path: &Path, times: FileTimes, flags: AtFlags) -> io::Result<()> {
    Ok(utimensat(CWD, path, &timestamps(times)?, flags)?)
}

/// Converts the times to the kernel's form.
///
/// std does not expose the contents of a [`FileTimes`], and applies it to open files only. Opening
/// the file at `path` would need a permission that changing its times does not. So this function
/// applies the times to a file in memory, and reads them back.
fn timestamps(times: FileTimes) -> io::Result<Timestamps> {
    let probe = File::from(memfd_create("sinew-times", MemfdFlags::CLOEXEC)?);
    let [first, second] = [1, 2].map(|mark| after(&probe, mark, times));
    let ((accessed, modified), second) = (first?, second?);
    Ok(Timestamps {
        last_access: unless_kept(accessed, second.0),
        last_modification: unless_kept(modified, second.1),
    })
}

/// Sets both times of the probe to `mark` seconds, applies `times`, and returns the result.
fn after(probe: &File, mark: i64, times: FileTimes) -> io::Result<(Timespec, Timespec)> {
    let marked = Timespec { tv_sec: mark, tv_nsec: 0 };
    futimens(probe, &Timestamps { last_access: marked, last_modification: marked })?;
    probe.set_times(times)?;
    let known = probe.metadata()?;
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    Ok((time(known.atime(), known.atime_nsec()), time(known.mtime(), known.mtime_nsec())))
}

/// Returns the time if it was set, and otherwise the mark for an unchanged time. A time was set if
/// it is the same after two different marks.
fn unless_kept(first: Timespec, second: Timespec) -> Timespec {
    if first == second { first } else { Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT } }
}
