//! The CPUs on which the kernel lets the calling thread run. Knows nothing about machines or
//! groups.

use std::io;
use std::path::Path;

use rustix::thread::{CpuSet as Mask, sched_getaffinity, sched_setaffinity};

use crate::cpu_set::CpuSet;
use crate::file;

/// Returns the mask of the calling thread, which new threads inherit. `proc` is mounted below
/// `root`.
pub(super) fn current(root: &Path) -> io::Result<CpuSet> {
    match sched_getaffinity(None) {
        Ok(mask) => Ok((0..Mask::MAX_CPU).filter(|cpu| mask.is_set(*cpu)).map(|cpu| cpu as u32).collect()),
        // The kernel supports more CPUs than that mask has bits. A file has the same mask as a
        // list.
        Err(rustix::io::Errno::INVAL) => from_status(root),
        Err(error) => Err(error.into()),
    }
}

/// Restricts the calling thread, and the threads that it starts from now on, to these CPUs.
///
/// CPUs for which the system call's mask has no bit are ignored.
///
/// # Errors
///
/// Returns the kernel's error if it refuses: none of the CPUs exists, or the process has no
/// permission.
///
/// ```no_run
/// # use sinew_topology::{CpuSet, restrict_thread};
///
/// restrict_thread(&CpuSet::from_range(0..=3))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn restrict_thread(cpus: &CpuSet) -> io::Result<()> {
    let mut mask = Mask::new();
    cpus.iter().filter(|cpu| (*cpu as usize) < Mask::MAX_CPU).for_each(|cpu| mask.set(cpu as usize));
    Ok(sched_setaffinity(None, &mask)?)
}

/// Returns the mask from the thread's status file.
pub(super) fn from_status(root: &Path) -> io::Result<CpuSet> {
    let text = file::read(&root.join("proc/thread-self/status"))?.ok_or(io::ErrorKind::NotFound)?;
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list =
        list.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no list of CPUs in the status"))?;
    list.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_too_large_for_the_call_is_in_the_status() {
        let root = std::env::temp_dir().join(format!("sinew-status-{}", std::process::id()));
        let path = root.join("proc/thread-self");
        std::fs::create_dir_all(&path).unwrap();
        let mut masks = Vec::new();
        for status in [
            "Name:\tx\nCpus_allowed_list:\t3,1000-5000\nother:\t1\n",
            "Name:\tx\n",
            "Cpus_allowed_list:\tx\n",
        ] {
            std::fs::write(path.join("status"), status).unwrap();
            masks.push(from_status(&root).map(|cpus| cpus.len()).map_err(|error| error.kind()));
        }
        std::fs::remove_dir_all(&root).unwrap();
        masks.push(from_status(&root).map(|cpus| cpus.len()).map_err(|error| error.kind()));
        let wrong = Err(io::ErrorKind::InvalidData);
        assert_eq!(masks, [Ok(4002), wrong, wrong, Err(io::ErrorKind::NotFound)]);
    }

    #[test]
    fn the_status_contains_the_mask_of_the_call() {
        let root = Path::new("/");
        // The list may have more: CPUs that do not exist at the moment.
        let (mask, list) = (current(root).unwrap(), from_status(root).unwrap());
        assert!(!mask.is_empty() && mask.is_subset(&list), "{mask} {list}");
    }
}
