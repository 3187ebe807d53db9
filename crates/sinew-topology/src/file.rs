//! Reads small files of the kernel, with a bound on their length. Knows no format: the parsers
//! refuse files that are not text.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// More than any file that describes a machine has: a list of every second one of 65,536 CPUs has a
/// tenth of this length.
const LONGEST: u64 = 4 << 20;

/// Returns the text of a file, or `None` if the file does not exist. Bytes that are not UTF-8 are
/// replaced.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 > LONGEST => {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is longer than any of the kernel's"))
        }
        Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the entries of a directory whose name is `prefix` and a number, sorted by that number,
/// or `None` if the directory does not exist.
pub(super) fn numbered(directory: &Path, prefix: &str) -> io::Result<Option<Vec<(u32, PathBuf)>>> {
    let entries = match directory.read_dir() {
        Err(error) if is_absence(&error) => return Ok(None),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|name| number(name.strip_prefix(prefix)?));
        found.extend(number.map(|number| (number, entry.path())));
    }
    found.sort_unstable();
    Ok(Some(found))
}

/// Parses a number as the kernel writes it in names: `cpu+1` and `cpu01` are other names.
fn number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
