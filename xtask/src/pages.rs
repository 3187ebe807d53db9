//! What the public pages of a crate's documentation must not say. It knows rustdoc's files, and no
//! Rust.
//!
//! The pages are those that can be reached by links from the crate's front page: a directory of
//! documentation may have pages of earlier runs too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::failure::{Failure, Result, While};

/// Text that users of `sinew` cannot use, and why.
const UNWANTED: &[(&str, &str)] = &[
    ("sinew_topology::", "users write `sinew::`: hide the line of the example that imports it"),
    ("sinew_sched::", "users write `sinew::`: hide the line of the example that imports it"),
    ("sinew_coroutine::", "users write `sinew::coroutine::`: hide the line of the example that imports it"),
    ("id=\"invariant", "an invariant is for those who read the code: put it on the field"),
    ("flare", "say what it does"),
    ("brpc", "say what it does"),
    ("tRPC", "say what it does"),
    ("folly", "say what it does"),
];

/// Checks all pages of a crate. `directory` has its front page.
pub(crate) fn check(directory: &Path) -> Result {
    let pages = public(directory)?;
    let mut found = Vec::new();
    for page in &pages {
        let text = read(page)?;
        let unwanted = UNWANTED.iter().filter(|(words, _)| text.contains(words));
        found.extend(unwanted.map(|(words, why)| format!("{}: `{words}`: {why}", page.display())));
    }
    if found.is_empty() {
        println!("{} public pages show what users have", pages.len());
        return Ok(());
    }
    Err(Failure::new(found.join("\n")))
}

/// Returns the pages of this crate that can be reached from its front page.
fn public(directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut pages = BTreeSet::from([directory.join("index.html")]);
    let mut next: Vec<_> = pages.iter().cloned().collect();
    while let Some(page) = next.pop() {
        let text = read(&page)?;
        let from = page.parent().unwrap_or(directory);
        let linked = links(&text).map(|link| resolve(from, link));
        for page in linked.filter(|page| page.starts_with(directory) && page.is_file()) {
            if pages.insert(page.clone()) {
                next.push(page);
            }
        }
    }
    Ok(pages)
}

/// Returns the pages that a page links to, as it names them.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#', '?']).next());
    targets.filter(|target| target.ends_with(".html") && !target.contains("://"))
}

/// Returns the path of a link, without `..`.
fn resolve(from: &Path, link: &str) -> PathBuf {
    let mut path = from.to_path_buf();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
    }
    path
}

fn read(page: &Path) -> Result<String> {
    fs::read_to_string(page).while_doing(page.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes documentation with these pages.
    fn crate_of(name: &str, pages: &[(&str, &str)]) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("xtask-pages-{}-{name}", std::process::id()));
        for (page, text) in pages {
            let page = directory.join(page);
            fs::create_dir_all(page.parent().unwrap()).unwrap();
            fs::write(page, text).unwrap();
        }
        directory
    }

    #[test]
    fn pages_that_links_lead_to_are_looked_at() {
        let front = ("index.html", r#"<a href="a/index.html#b">a</a> <a href="https://x.y/z.html">z</a>"#);
        let old = ("old.html", "sinew_sched::Pool");
        let good = ("a/struct.B.html", r#"<a href="../index.html">up</a>"#);
        let bad = ("a/struct.B.html", "use sinew_sched::Strategy;");
        let module = ("a/index.html", r#"<a href="struct.B.html">B</a>"#);
        let directory = crate_of("links", &[front, old, module, good]);
        assert!(check(&directory).is_ok());
        crate_of("links", &[bad]);
        let failure = check(&directory).unwrap_err().to_string();
        assert!(failure.contains("struct.B.html") && !failure.contains("old.html"), "{failure}");
        fs::remove_dir_all(directory).unwrap();
    }
}
