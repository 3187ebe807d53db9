//! Atomics and locks in `sinew-coroutine` live only in files on a committed list. It does not know
//! whether the listed files use them well.

use super::finding::Finding;
use super::ignorance::is_in_std;
use super::listing::Listing;
use super::paths::paths;
use super::rust_file::RustFile;
use super::tree::Tree;

const LIST: &str = "xtask/sync-files.txt";
const SOURCE: &str = "crates/sinew-coroutine/src/";

/// Finds unlisted files that synchronise, and listed ones that do not.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let listing = Listing::read(tree, LIST);
    let unlisted = tree.rust_below(SOURCE).filter(|file| !listing.has(&file.path));
    let mut findings: Vec<_> = unlisted.filter_map(complaint).collect();
    findings.extend(
        listing.check(|path| {
            tree.rust_below(SOURCE).any(|file| file.path == path && first_sync(file).is_some())
        }),
    );
    findings
}

fn complaint(file: &RustFile) -> Option<Finding> {
    let (line, name) = first_sync(file)?;
    let message = format!("`{name}` in a file that is not on the list");
    Some(Finding::new(&file.path, line, message, "do without, or list the file in xtask/sync-files.txt"))
}

/// Returns the first atomic or lock outside tests. One is enough to need a line in the list.
fn first_sync(file: &RustFile) -> Option<(usize, String)> {
    let tokens = file.shipped_tokens();
    let paths = paths(file, &tokens);
    let by_path = paths.iter().filter(|path| is_in_std(path, &["sync"])).map(|path| (path.line, path.text()));
    let words = tokens.iter().filter_map(|token| Some((token.line, token.ident()?.to_owned())));
    // Names too: a facade of the crate's own hands out the same types under other paths.
    let by_name = words.filter(|(_, word)| is_sync_type(word));
    by_path.chain(by_name).min()
}

fn is_sync_type(word: &str) -> bool {
    let is_atomic = word.strip_prefix("Atomic").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    is_atomic || ["Mutex", "RwLock", "Condvar", "OnceLock", "LazyLock", "Barrier", "Lock"].contains(&word)
}
