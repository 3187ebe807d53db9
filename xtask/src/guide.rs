//! `cargo xtask guide`: builds the guide as a book, to be read in a browser. That the guide is
//! whole is checked by [`tidy`](crate::tidy), and its code by the tests.
//!
//! mdbook comes from the registry, in one version, and stays in `target/tools`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// The version that the guide was last built with.
const VERSION: &str = "0.5.4";

/// Where the chapters are.
const CHAPTERS: &str = "docs/guide/src";

/// Builds the book, and says where it is.
pub(crate) fn run(context: &Context) -> Result {
    let book = context.target.join("guide");
    Exec::new(mdbook(context)?)
        .args(["build", "docs/guide", "--dest-dir"])
        .args([&book])
        .directory(&context.root)
        .run()?;
    let mut dead = Vec::new();
    for page in pages(&book)? {
        let text = fs::read_to_string(&page).while_doing(page.display())?;
        let text = lead_out(&text, context);
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        dead.extend(links(&text).filter(|link| !is_there(&book, link)).map(|link| format!("{name}: {link}")));
        fs::write(&page, &text).while_doing(page.display())?;
    }
    if dead.is_empty() {
        println!("{}", book.join("index.html").display());
        return Ok(());
    }
    Err(Failure::new(format!("links of the book lead nowhere:\n  {}", dead.join("\n  "))))
}

/// The program, which is installed if it is not there in this version.
fn mdbook(context: &Context) -> Result<PathBuf> {
    let tools = context.target.join("tools");
    let program = tools.join("bin/mdbook");
    let wanted = format!("mdbook v{VERSION}");
    if program.is_file() && Exec::new(&program).args(["--version"]).read()?.trim() == wanted {
        return Ok(program);
    }
    Exec::cargo(context, &["install", "mdbook", "--locked", "--force", "--version", VERSION])
        // Without what serves and watches a book.
        .args(["--no-default-features", "--features", "search", "--root"])
        .args([&tools])
        .run()?;
    Ok(program)
}

/// The pages of the book, all in one folder.
fn pages(book: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(book).while_doing(book.display())?;
    let paths: std::io::Result<Vec<_>> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "html");
    Ok(paths.while_doing(book.display())?.into_iter().filter(is_page).collect())
}

/// Points links that leave the book to the files of the repository: they are relative to the
/// chapter's source, and mdbook takes each Markdown file for a page.
fn lead_out(text: &str, context: &Context) -> String {
    let mut pieces = text.split("href=\"../");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (link, rest) = piece.split_once('"').unwrap_or((piece, ""));
        let file =
            normal(&context.root.join(CHAPTERS).join("..").join(link.split('#').next().unwrap_or(link)));
        let source = file.with_extension("md");
        let file = if file.exists() { file } else { source };
        let href = match (context.target.strip_prefix(&context.root), file.strip_prefix(&context.root)) {
            (Ok(target), Ok(file)) => Path::new(&"../".repeat(target.iter().count() + 1)).join(file),
            _ => file,
        };
        out.push_str(&format!("href=\"{}\"{rest}", href.display()));
    }
    out
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// What a page's links point to, but for the world and for places within the page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.filter(|target| !target.contains(':') && !target.starts_with('#') && !target.is_empty())
}

fn is_there(book: &Path, link: &str) -> bool {
    book.join(link.split(['#', '?']).next().unwrap_or(link)).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_book_lead_to_the_repository() {
        let root = PathBuf::from("/repository");
        let context = Context { target: root.join("target"), root };
        let text = r#"<a href="../../design/none.html#x">a</a> <a href="faq.html">b</a>"#;
        assert_eq!(
            lead_out(text, &context),
            r#"<a href="../../docs/design/none.md">a</a> <a href="faq.html">b</a>"#
        );
    }

    #[test]
    fn links_are_those_that_name_a_file() {
        let page =
            r##"<a href="a.html#b"> <a href="#c"> <a href="https://example.org/"> <link href="d.css">"##;
        assert!(links(page).eq(["a.html#b", "d.css"]));
    }
}
