//! The paths that a file names, with `use` groups spread out and `self`, `super` resolved.
//!
//! `use std::{fs, thread::Thread}` names `std::fs` and `std::thread::Thread`. Works on tokens, so
//! that paths inside macros count too. A rename (`as`) is recorded, and not followed: the line that
//! renames is itself a use.

use super::rust_file::RustFile;
use super::tokens::{Kind, Token, closing};

/// A path somewhere in code.
pub(super) struct PathUse {
    /// Its segments; a path inside the crate starts with `crate`.
    pub(super) segments: Vec<String>,
    /// The line of its last segment.
    pub(super) line: usize,
    /// The declaration that it is in, if that is a `use`.
    pub(super) import: Option<Import>,
    /// The name that it is given by `as`.
    pub(super) rename: Option<String>,
}

/// A `use` declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Import {
    /// For the module itself, and those below it.
    Private,
    /// `pub use`, with any visibility.
    Reexport,
}

impl PathUse {
    /// Returns the path as written in source.
    pub(super) fn text(&self) -> String {
        self.segments.join("::")
    }

    /// Returns the name that the path has here, if it is imported and is no glob.
    pub(super) fn imported_name(&self) -> Option<&str> {
        self.import?;
        let last = self.segments.last().filter(|last| *last != "*" && *last != "_")?;
        let own = if last == "self" { self.segments.iter().rev().nth(1)? } else { last };
        Some(self.rename.as_ref().unwrap_or(own))
    }
}

/// Returns every path in the tokens of a file.
pub(super) fn paths(file: &RustFile, tokens: &[Token]) -> Vec<PathUse> {
    let mut reader = Reader { tokens, index: 0, module: module_of(file), import: None, found: Vec::new() };
    reader.read(tokens.len());
    reader.found
}

/// Returns the module that a file is, as segments after `crate`.
pub(super) fn module_of(file: &RustFile) -> Vec<String> {
    let path = file.source_path().unwrap_or_default();
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut segments: Vec<_> = path.split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| ["mod", "lib", "main", ""].contains(&last.as_str())) {
        segments.pop();
    }
    segments
}

struct Reader<'a> {
    tokens: &'a [Token],
    index: usize,
    /// The module that the token at `index` is in; inline modules push and pop.
    module: Vec<String>,
    /// The `use` declaration that the token at `index` is in.
    import: Option<Import>,
    found: Vec<PathUse>,
}

impl Reader<'_> {
    /// Reads paths up to the token at `end`.
    fn read(&mut self, end: usize) {
        while self.index < end {
            if self.inline_module().is_none() {
                self.enter_or_leave_import();
                match self.token(0) {
                    Some(token) if starts_path(token) => self.path(Vec::new()),
                    _ => self.index += 1,
                }
            }
        }
    }

    /// `use`, up to its `;`. Not the `use<...>` of a type.
    fn enter_or_leave_import(&mut self) {
        let Some(token) = self.token(0) else { return };
        if token.is_punct(';') {
            self.import = None;
        } else if token.is_ident("use") && !self.token(1).is_some_and(|next| next.is_punct('<')) {
            let is_public = self.index.checked_sub(1).and_then(|before| self.tokens.get(before));
            let is_public = is_public.is_some_and(|token| {
                // `pub(crate) use`: nothing else ends with a bracket of this kind before a `use`.
                token.is_ident("pub") || token.kind == Kind::Close(')')
            });
            self.import = Some(if is_public { Import::Reexport } else { Import::Private });
        }
    }

    /// `mod name {`: what is inside sees one more `super`.
    fn inline_module(&mut self) -> Option<()> {
        let name = self.token(1)?.ident()?.to_owned();
        if !(self.token(0)?.is_ident("mod") && self.token(2)?.is_open('{')) {
            return None;
        }
        let end = closing(self.tokens, self.index + 2);
        self.index += 3;
        self.module.push(name);
        self.read(end);
        self.module.pop();
        Some(())
    }

    /// Reads one path that starts here, after `prefix`, and the group in which it ends.
    fn path(&mut self, mut prefix: Vec<String>) {
        let mut line = 0;
        while let Some(segment) = self.segment() {
            line = self.tokens[self.index].line;
            prefix.push(segment);
            self.index += 1;
            if !self.skip_separator() {
                break;
            }
        }
        if self.token(0).is_some_and(|token| token.is_open('{')) && self.follows_separator() {
            self.group(&prefix);
        } else {
            let (import, rename) = (self.import, self.rename());
            self.found.push(PathUse { segments: self.resolve(prefix), line, import, rename });
        }
    }

    /// `{a, b::c, self}` after a path: each is a path of its own.
    fn group(&mut self, prefix: &[String]) {
        let end = closing(self.tokens, self.index);
        self.index += 1;
        while self.index < end {
            if self.segment().is_some() {
                self.path(prefix.to_vec());
            } else {
                self.index += 1;
            }
        }
        self.index = end + 1;
    }

    /// Returns the segment here: an identifier, or the `*` of a glob.
    fn segment(&self) -> Option<String> {
        let token = self.token(0)?;
        let glob = token.is_punct('*') && self.follows_separator();
        if glob { Some("*".to_owned()) } else { token.ident().map(str::to_owned) }
    }

    fn skip_separator(&mut self) -> bool {
        let is_colon = |token: Option<&Token>| token.is_some_and(|token| token.is_punct(':'));
        let found = is_colon(self.token(0)) && is_colon(self.token(1));
        self.index += if found { 2 } else { 0 };
        found
    }

    /// `as name` behind a path that is imported.
    fn rename(&mut self) -> Option<String> {
        self.import.filter(|_| self.token(0).is_some_and(|token| token.is_ident("as")))?;
        self.index += 2;
        self.tokens.get(self.index - 1)?.ident().map(str::to_owned)
    }

    fn follows_separator(&self) -> bool {
        self.index >= 2 && self.tokens[self.index - 2..self.index].iter().all(|token| token.is_punct(':'))
    }

    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.index + ahead)
    }

    /// Makes a relative path start at `crate`.
    fn resolve(&self, segments: Vec<String>) -> Vec<String> {
        let mut base = self.module.clone();
        let mut rest = segments.as_slice();
        let is_relative = rest.first().is_some_and(|first| first == "self" || first == "super");
        // A bare `self` is a value far more often than a module.
        if !is_relative || rest.len() == 1 {
            return segments;
        }
        while let Some((first, tail)) =
            rest.split_first().filter(|(first, _)| *first == "self" || *first == "super")
        {
            if first == "super" {
                base.pop();
            }
            rest = tail;
        }
        std::iter::once("crate".to_owned()).chain(base).chain(rest.iter().cloned()).collect()
    }
}

/// Keywords that may stand before a `::` that opens an absolute path are not part of it.
fn starts_path(token: &Token) -> bool {
    const NOT_SEGMENTS: [&str; 16] = [
        "use", "as", "in", "mut", "dyn", "impl", "for", "return", "else", "match", "if", "while", "move",
        "ref", "where", "const",
    ];
    matches!(&token.kind, Kind::Ident(text) if !NOT_SEGMENTS.contains(&text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, source: &str) -> Vec<String> {
        let file = RustFile::new(path, source.to_owned());
        let all = paths(&file, &file.tokens);
        all.iter().filter(|path| path.segments.len() > 1).map(PathUse::text).collect()
    }

    #[test]
    fn groups_are_spread_out() {
        let source =
            "use ::std::{fs as f, sync::{self, atomic::*}, thread}; fn x() { core::ptr::null::<u8>() }";
        let expected =
            ["std::fs", "std::sync::self", "std::sync::atomic::*", "std::thread", "core::ptr::null"];
        assert_eq!(named("crates/sinew/src/lib.rs", source), expected);
    }

    #[test]
    fn relative_paths_are_resolved_through_inline_modules() {
        let source = "use super::fiber::Id; mod inner { use super::super::time::Now; use self::deep::X; }";
        let expected = ["crate::fiber::Id", "crate::time::Now", "crate::rt::inner::deep::X"];
        assert_eq!(named("crates/sinew/src/rt/mod.rs", source), expected);
        assert_eq!(named("crates/sinew/src/rt/a.rs", "super::super::net::f()"), ["crate::net::f"]);
    }

    #[test]
    fn imports_are_told_apart_and_renames_recorded() {
        let source = "pub(crate) use a::{B as C, d::{self, E as _}}; use f::G; fn h() -> impl I + use<'_> { j::k() as l::M }";
        let file = RustFile::new("crates/sinew/src/lib.rs", source.to_owned());
        let found = paths(&file, &file.tokens);
        let names: Vec<_> = found.iter().filter_map(PathUse::imported_name).collect();
        assert_eq!(names, ["C", "d", "_", "G"]);
        let reexports = found.iter().filter(|path| path.import == Some(Import::Reexport)).count();
        assert_eq!(reexports, 3);
    }

    #[test]
    fn paths_inside_macros_count() {
        assert_eq!(
            named("crates/sinew/src/rt/a.rs", "go!(crate::net::f, $crate::x)"),
            ["crate::net::f", "crate::x"]
        );
    }
}
