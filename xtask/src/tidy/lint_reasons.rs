//! Every `allow` and `expect` of a lint says why. Readers judge whether the reason is good.

use super::finding::Finding;
use super::tokens::{Token, attributes, closing};
use super::tree::Tree;

/// Finds silenced lints without a reason.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let all = tree.rust.iter().flat_map(|file| levels(&file.tokens).map(move |level| (file, level)));
    let bare = all.filter(|(_, level)| !level.has_reason());
    bare.map(|(file, level)| {
        let message = format!("`{}` without a reason", level.name);
        Finding::new(&file.path, level.line, message, "add `reason = \"...\"`")
    })
    .collect()
}

/// One `allow(..)` or `expect(..)` in an attribute.
pub(super) struct LintLevel<'a> {
    name: &'a str,
    line: usize,
    arguments: &'a [Token],
}

impl LintLevel<'_> {
    /// Returns whether it says why.
    pub(super) fn has_reason(&self) -> bool {
        self.names("reason")
    }

    /// Returns whether a lint (or `reason`) of this name is among the arguments.
    pub(super) fn names(&self, name: &str) -> bool {
        self.arguments.iter().any(|token| token.is_ident(name))
    }
}

/// Returns every silenced lint, those behind `cfg_attr` included.
pub(super) fn levels(tokens: &[Token]) -> impl Iterator<Item = LintLevel<'_>> {
    attributes(tokens).flat_map(|attribute| (0..attribute.len()).filter_map(|index| level(attribute, index)))
}

fn level(attribute: &[Token], index: usize) -> Option<LintLevel<'_>> {
    let token = &attribute[index];
    let name = token.ident().filter(|name| ["allow", "expect"].contains(name))?;
    let open = index + 1;
    let is_call = attribute.get(open)?.is_open('(');
    is_call.then(|| LintLevel {
        name,
        line: token.line,
        arguments: &attribute[open + 1..closing(attribute, open)],
    })
}
