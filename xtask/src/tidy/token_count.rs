//! `cargo xtask tokens`: counts the tokens of the library crates, so that two trees can be compared.
//!
//! A token is an identifier, a keyword, a literal, a bracket or one character of punctuation. What
//! counts is product code: files below `crates/*/src` without tests, models and stand-ins of models,
//! and there no items behind `cfg(test)`, no comments and no documentation. It judges no change.

use clap::Args;

use super::rust_file::RustFile;
use super::tokens::{self, Kind, Token};
use super::tree::Tree;
use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;

/// Which tree to count.
#[derive(Args)]
pub(crate) struct Selection {
    /// Count the tree of this commit instead of the working tree.
    #[arg(long)]
    rev: Option<String>,
    /// List each file with its tokens.
    #[arg(long)]
    files: bool,
}

/// Prints the tokens of each library crate, and of all.
pub(crate) fn print(context: &Context, selection: &Selection) -> Result {
    let files = match &selection.rev {
        Some(rev) => files_of_commit(context, rev)?,
        None => Tree::read(&context.root)?.rust,
    };
    let mut sum = 0;
    for library in crate::LIBRARIES {
        let below = format!("crates/{library}/src/");
        let mut tokens = 0;
        for file in files.iter().filter(|file| file.path.starts_with(&below)) {
            let count = count(file);
            if selection.files && count > 0 {
                println!("{count:7} {}", file.path);
            }
            tokens += count;
        }
        println!("{tokens:7} {library}");
        sum += tokens;
    }
    println!("{sum:7} all library crates");
    Ok(())
}

/// The Rust files that a commit has below `crates`.
fn files_of_commit(context: &Context, rev: &str) -> Result<Vec<RustFile>> {
    let git = |arguments: &[&str]| Exec::new("git").args(arguments).directory(&context.root).read();
    let paths = git(&["ls-tree", "-r", "--name-only", rev, "crates"])?;
    let rust = paths.lines().filter(|path| path.ends_with(".rs"));
    rust.map(|path| Ok(RustFile::new(path, git(&["show", &format!("{rev}:{path}")])?))).collect()
}

/// The tokens of a file that count.
fn count(file: &RustFile) -> usize {
    if !file.is_product() {
        return 0;
    }
    let shipped = file.shipped_tokens();
    let documentation = (0..shipped.len()).filter_map(|index| documentation_at(&shipped, index));
    shipped.len() - documentation.sum::<usize>()
}

/// How many tokens the lexer made of the doc comment that starts at `index`, if one does.
fn documentation_at(tokens: &[Token], index: usize) -> Option<usize> {
    let (attribute, after) = tokens::attribute_at(tokens, index)?;
    match attribute {
        [doc, equals, Token { kind: Kind::Literal(_), .. }]
            if doc.is_ident("doc") && equals.is_punct('=') =>
        {
            Some(after - index)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{RustFile, count};

    #[test]
    fn comments_documentation_and_tests_do_not_count() {
        let source =
            "//! A file.\n/// A function.\n#[doc(hidden)]\nfn a() {} // Empty.\n#[cfg(test)]\nmod tests {}";
        let count = |path: &str| count(&RustFile::new(path, source.to_owned()));
        assert_eq!(count("crates/sinew/src/a.rs"), "# [ doc ( hidden ) ] fn a ( ) { }".split(' ').count());
        assert_eq!(count("crates/sinew/src/model/a.rs"), 0);
        assert_eq!(count("crates/sinew/src/a_loom.rs"), 0);
        assert_eq!(count("crates/sinew/tests/a.rs"), 0);
    }
}
