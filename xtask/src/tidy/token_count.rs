//! `cargo xtask tokens`: counts the tokens of the library crates, so that two trees can be
//! compared.
//!
//! A token is an identifier, a keyword, a literal, a bracket or one character of punctuation. What
//! counts is product code: files below `crates/*/src` without tests, models and stand-ins of
//! models, whether their names say so or the `cfg` where they are declared, and there no items
//! behind `cfg(test)`, no comments and no documentation. It judges no change.

use std::collections::HashSet;

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
    let checks: HashSet<_> = files.iter().flat_map(modules_of_checks).collect();
    let is_check = |file: &&RustFile| checks.iter().any(|module| is_of_module(&file.path, module));
    let mut sum = 0;
    for library in crate::LIBRARIES {
        let below = format!("crates/{library}/src/");
        let mut tokens = 0;
        for file in files.iter().filter(|file| file.path.starts_with(&below) && !is_check(file)) {
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

/// The paths, without an ending, of modules that the file declares for tests or for the model
/// checker.
fn modules_of_checks(file: &RustFile) -> Vec<String> {
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let folder = ["/mod", "/lib"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
    let (mut modules, mut index) = (Vec::new(), 0);
    while index < file.tokens.len() {
        let Some((cfg, mut after)) = tokens::attribute_at(&file.tokens, index) else {
            index += 1;
            continue;
        };
        index = after;
        // What `not` follows is there in products, and `any` names a case in which the module may
        // be.
        let words: Vec<_> = cfg.iter().filter_map(Token::ident).collect();
        if !matches!(words.as_slice(), ["cfg", "test" | "loom", ..] | ["cfg", "all", "test" | "loom", ..]) {
            continue;
        }
        // A stand-in has the name of what it stands for, and a path that says what it is.
        let mut has_path = false;
        while let Some((attribute, end)) = tokens::attribute_at(&file.tokens, after) {
            has_path |= attribute.first().is_some_and(|word| word.is_ident("path"));
            after = end;
        }
        let mut words = file.tokens.iter().skip(after).map_while(Token::ident);
        if let (Some("mod"), Some(name), false) = (words.next(), words.next(), has_path) {
            modules.push(format!("{folder}/{name}"));
        }
    }
    modules
}

/// Whether a file is the module with this path, or below it.
fn is_of_module(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
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
    use super::{RustFile, count, is_of_module, modules_of_checks};

    #[test]
    fn modules_of_tests_and_of_the_model_checker_do_not_count() {
        let source = "#[cfg(all(test, not(loom)))] mod a; #[cfg(loom)] mod b; #[cfg(not(loom))] mod c;\
                      #[cfg(loom)] #[path = \"d_loom.rs\"] mod d; mod e;";
        let modules = modules_of_checks(&RustFile::new("crates/sinew/src/x/mod.rs", source.to_owned()));
        assert_eq!(modules, ["crates/sinew/src/x/a", "crates/sinew/src/x/b"]);
        assert!(is_of_module("a/b.rs", "a/b") && is_of_module("a/b/c.rs", "a/b"));
        assert!(!is_of_module("a/bc.rs", "a/b"));
    }

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
