//! The initial file system of a machine: the first process, the programs, the plan that says what
//! to run, and the directories on which to mount.
//!
//! What the first process does with it is the concern of `sinew-init`.

use std::fs;
use std::path::Path;

use sinew_init::PLAN;

use super::cpio::Cpio;
use super::suite::Built;
use crate::failure::{Result, While};

const DIRECTORIES: [&str; 5] = ["dev", "proc", "programs", "sys", "tmp"];

/// Puts the archive together.
pub(super) fn archive(init: &Path, programs: &[Built]) -> Result<Vec<u8>> {
    let mut archive = Cpio::new();
    for directory in DIRECTORIES {
        archive.directory(directory);
    }
    archive.program("init", &read(init)?);
    archive.program(relative(PLAN), plan(programs).as_bytes());
    for built in programs {
        archive.program(relative(&built.program.path()), &read(&built.file)?);
    }
    Ok(archive.finish())
}

fn plan(programs: &[Built]) -> String {
    programs.iter().map(|built| built.program.to_line() + "\n").collect()
}

fn relative(path: &str) -> &str {
    path.trim_start_matches('/')
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).while_doing(file.display())
}
