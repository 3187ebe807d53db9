//! Rust source as a flat list of tokens with line numbers.
//!
//! Comments are gone; strings are single tokens; documentation is what the language makes of it, a
//! `doc` attribute. So a word in a comment is never mistaken for code. Nothing here knows grammar
//! beyond brackets, attributes and where an item ends.

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// One token and the line it starts on.
#[derive(Clone)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Counted from 1.
    pub(super) line: usize,
}

/// The kinds of tokens. Brackets come one by one; they always match.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword.
    Ident(String),
    /// One character of punctuation.
    Punct(char),
    /// A literal as written, quotes included.
    Literal(String),
    /// `(`, `[` or `{`.
    Open(char),
    /// `)`, `]` or `}`.
    Close(char),
}

impl Token {
    /// Returns the identifier's text.
    pub(super) fn ident(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ident(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether this is the identifier `name`.
    pub(super) fn is_ident(&self, name: &str) -> bool {
        self.ident() == Some(name)
    }

    /// Returns whether this is the punctuation character `c`.
    pub(super) fn is_punct(&self, c: char) -> bool {
        self.kind == Kind::Punct(c)
    }

    /// Returns whether this is the opening bracket `c`.
    pub(super) fn is_open(&self, c: char) -> bool {
        self.kind == Kind::Open(c)
    }
}

/// Splits source text into tokens; the error is the line where that fails.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, usize> {
    let stream: TokenStream = text.parse().map_err(|error: LexError| error.span().start().line)?;
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let kind = match tree {
            TokenTree::Ident(ident) => Kind::Ident(ident.to_string()),
            TokenTree::Punct(punct) => Kind::Punct(punct.as_char()),
            TokenTree::Literal(literal) => Kind::Literal(literal.to_string()),
            TokenTree::Group(group) => {
                flatten_group(&group, into);
                continue;
            }
        };
        into.push(Token { kind, line });
    }
}

fn flatten_group(group: &proc_macro2::Group, into: &mut Vec<Token>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::Brace | Delimiter::None => ('{', '}'),
    };
    into.push(Token { kind: Kind::Open(open), line: group.span_open().start().line });
    flatten(group.stream(), into);
    into.push(Token { kind: Kind::Close(close), line: group.span_close().start().line });
}

/// Returns the index of the bracket that closes the one at `open`.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

/// Returns the attribute that starts at `index`, if one does: its contents, and the index after it.
pub(super) fn attribute_at(tokens: &[Token], index: usize) -> Option<(&[Token], usize)> {
    if !tokens.get(index)?.is_punct('#') {
        return None;
    }
    let inner = usize::from(tokens.get(index + 1)?.is_punct('!'));
    let open = index + 1 + inner;
    if !tokens.get(open)?.is_open('[') {
        return None;
    }
    let close = closing(tokens, open);
    Some((&tokens[open + 1..close], close + 1))
}

/// Returns the contents of every attribute, wherever it stands.
pub(super) fn attributes(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    (0..tokens.len()).filter_map(|index| Some(attribute_at(tokens, index)?.0))
}

/// Returns the tokens without items that exist only in tests.
pub(super) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match attribute_at(tokens, index) {
            Some((attribute, after)) if is_cfg_test(attribute) => index = item_end(tokens, after),
            _ => {
                kept.push(token.clone());
                index += 1;
            }
        }
    }
    kept
}

/// `cfg(test)`, alone or as the first of `all(...)`.
fn is_cfg_test(attribute: &[Token]) -> bool {
    let words: Vec<_> = attribute.iter().filter_map(Token::ident).take(3).collect();
    matches!(words.as_slice(), ["cfg", "test", ..] | ["cfg", "all", "test", ..])
}

/// Returns where the item that starts at `index` ends: after its `;`, or after its braces.
fn item_end(tokens: &[Token], mut index: usize) -> usize {
    while let Some(token) = tokens.get(index) {
        match token.kind {
            Kind::Punct(';') => return index + 1,
            Kind::Open('{') => return closing(tokens, index) + 1,
            Kind::Open(_) => index = closing(tokens, index) + 1,
            Kind::Close(_) => return index,
            _ => index += 1,
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let tokens = lex(source).expect("lexes");
        without_tests(&tokens).iter().filter_map(|token| token.ident().map(str::to_owned)).collect()
    }

    #[test]
    fn comments_and_strings_hold_no_code() {
        let source = "// unsafe\n/* unsafe */ /// unsafe\nfn a() { \"unsafe\"; r#\"unsafe\"#; }";
        assert_eq!(words(source), ["doc", "fn", "a"]);
    }

    #[test]
    fn test_items_are_cut_out_whole() {
        let source =
            "#[cfg(test)] #[x(y)] mod t { fn u() {} } fn a() {} #[cfg(all(test, z))] use b; fn c() {}";
        assert_eq!(words(source), ["fn", "a", "fn", "c"]);
        assert_eq!(words("#[cfg(not(test))] fn a() {}"), ["cfg", "not", "test", "fn", "a"]);
    }

    #[test]
    fn lines_are_those_of_the_source() {
        let tokens = lex("fn a()\n{\n}").expect("lexes");
        assert_eq!(tokens.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 3]);
    }
}
