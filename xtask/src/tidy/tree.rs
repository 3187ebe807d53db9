//! A source tree read into memory: the one place where rules get their files from.
//!
//! It knows which files are ours to judge, and nothing about any rule. Build output, hidden
//! directories and fixtures (which are bad on purpose) are not ours.

use std::fs;
use std::path::{Path, PathBuf};

use super::rust_file::RustFile;
use crate::failure::{Result, While};

/// Fixtures hide the names of manifests behind this, so that cargo never takes one for a package of
/// ours.
const FIXTURE_SUFFIX: &str = ".fixture";

/// A file as text, with its path relative to the tree's root.
pub(super) struct TextFile {
    /// The path, with `/` between its parts.
    pub(super) path: String,
    /// The contents.
    pub(super) text: String,
}

/// Every file that rules look at.
#[derive(Default)]
pub(super) struct Tree {
    /// Where it was read from; rules ask it only whether a path exists.
    pub(super) root: PathBuf,
    /// Rust sources.
    pub(super) rust: Vec<RustFile>,
    /// Cargo manifests.
    pub(super) manifests: Vec<TextFile>,
    /// Markdown documents.
    pub(super) markdown: Vec<TextFile>,
    /// Text files: the rules' own lists are among them.
    pub(super) text: Vec<TextFile>,
}

impl Tree {
    /// Reads the tree below a root.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self { root: root.to_owned(), ..Self::default() };
        let mut paths = Vec::new();
        collect(root, "", &mut paths)?;
        paths.sort();
        paths.iter().try_for_each(|path| tree.add(path))?;
        Ok(tree)
    }

    /// Returns how many files were read.
    pub(super) fn file_count(&self) -> usize {
        self.rust.len() + self.manifests.len() + self.markdown.len() + self.text.len()
    }

    /// Returns a list or other text by its path.
    pub(super) fn text_file(&self, path: &str) -> Option<&TextFile> {
        self.text.iter().find(|file| file.path == path)
    }

    /// Returns the Rust files at or below a path.
    pub(super) fn rust_below(&self, prefix: &str) -> impl Iterator<Item = &RustFile> {
        self.rust.iter().filter(move |file| file.path.starts_with(prefix))
    }

    fn add(&mut self, path: &str) -> Result {
        let shown = path.strip_suffix(FIXTURE_SUFFIX).unwrap_or(path);
        let name = shown.rsplit('/').next().unwrap_or(shown);
        let read = || fs::read_to_string(self.root.join(path)).while_doing(path);
        let text_file = || read().map(|text| TextFile { path: shown.to_owned(), text });
        match name.rsplit_once('.') {
            Some((_, "rs")) => self.rust.push(RustFile::new(shown, read()?)),
            Some((_, "md")) => self.markdown.push(text_file()?),
            Some((_, "txt")) => self.text.push(text_file()?),
            _ if name == "Cargo.toml" => self.manifests.push(text_file()?),
            _ => {}
        }
        Ok(())
    }
}

/// Gathers the paths of files below `directory`, relative to `root`.
fn collect(root: &Path, directory: &str, paths: &mut Vec<String>) -> Result {
    for entry in fs::read_dir(root.join(directory)).while_doing(root.join(directory).display())? {
        let entry = entry.while_doing(directory)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        let kind = entry.file_type().while_doing(&path)?;
        if kind.is_file() {
            paths.push(path);
        } else if kind.is_dir() && !is_foreign(root, &path) {
            collect(root, &path, paths)?;
        }
    }
    Ok(())
}

/// `target` is build output only beside a manifest; a module may have that name.
fn is_foreign(root: &Path, path: &str) -> bool {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_output = name == "target" && root.join(parent).join("Cargo.toml").exists();
    is_output || name.starts_with('.') || path == "xtask/fixtures"
}
