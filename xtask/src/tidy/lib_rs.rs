//! `lib.rs` is a table of contents: what a crate is about, which modules it has and what it
//! exports, name by name. The order of the entries is not checked.

use super::finding::Finding;
use super::rust_file::RustFile;
use super::tokens::{Kind, Token, attribute_at, closing};
use super::tree::Tree;

/// Finds other items in a `lib.rs`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let roots = tree.rust.iter().filter(|file| file.path.ends_with("src/lib.rs"));
    roots.flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut index = 0;
    while index < file.tokens.len() {
        if let Some((_, after)) = attribute_at(&file.tokens, index) {
            index = after;
            continue;
        }
        let end = item_end(&file.tokens, index);
        findings.extend(
            complaint(&file.tokens[index..end])
                .map(|(message, remedy)| Finding::new(&file.path, file.tokens[index].line, message, remedy)),
        );
        index = end;
    }
    findings
}

/// Returns where an item ends: after its `;`, or after its braces (a `use` has both).
fn item_end(tokens: &[Token], start: usize) -> usize {
    let is_use = keyword(&tokens[start..]) == Some("use");
    let mut index = start;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            Kind::Punct(';') => return index + 1,
            Kind::Open('{') if !is_use => return closing(tokens, index) + 1,
            Kind::Open(_) => index = closing(tokens, index) + 1,
            _ => index += 1,
        }
    }
    tokens.len()
}

/// Returns the first word of an item after its visibility.
fn keyword(item: &[Token]) -> Option<&str> {
    let is_pub = item.first()?.is_ident("pub");
    let is_scoped = is_pub && item.get(1)?.is_open('(');
    let index = if is_scoped { closing(item, 1) + 1 } else { usize::from(is_pub) };
    item.get(index)?.ident()
}

/// Returns what is wrong with an item, and what to do about it.
fn complaint(item: &[Token]) -> Option<(String, &'static str)> {
    // An empty module carries documentation and nothing else: the README's examples are tested in
    // one.
    let has_body = item.windows(2).any(|pair| pair[0].is_open('{') && pair[1].kind != Kind::Close('}'));
    let has_glob = item.iter().any(|token| token.is_punct('*'));
    match keyword(item) {
        Some("mod") if has_body => Some(("an inline module in lib.rs".to_owned(), "give it a file")),
        Some("use") if has_glob => Some(("a glob in lib.rs".to_owned(), "name each item")),
        Some("mod" | "use") => None,
        other => Some((format!("`{}` in lib.rs", other.unwrap_or("code")), "move it to a file of its own")),
    }
}
