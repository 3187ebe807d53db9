//! Small files of the kernel, read with a bound. Knows no format; files that are no text are for the readers of the text to
//! refuse.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// No file that describes a machine is as long: a list of every second one of 65,536 CPUs has a tenth of it.
const LONGEST: u64 = 4 << 20;

/// The text of a file, or nothing if there is none. What is not UTF-8 is replaced.
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

/// The entries of a directory that are called `prefix` and a number, by that number; or nothing if there is no directory.
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

/// A number as the kernel writes it in names: `cpu+1` and `cpu01` are something else.
fn number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
