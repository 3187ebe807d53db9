//! Every rule is seen failing on its bad fixture, with exactly the expected words, and passing on
//! its good one.
//!
//! Fixtures are small trees in `xtask/fixtures/<rule>/`; `expected.txt` has one finding a line.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::Tree;
use super::{RULES, Rule};

fn fixture(rule: &Rule) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(rule.name)
}

fn findings(rule: &Rule, tree: &str) -> Vec<String> {
    let root = fixture(rule).join(tree);
    assert!(root.is_dir(), "the rule `{}` has no fixture {}", rule.name, root.display());
    let tree = Tree::read(&root).expect("a readable fixture");
    assert_ne!(tree.file_count(), 0, "an empty fixture: {}", root.display());
    (rule.check)(&tree).iter().map(ToString::to_string).collect()
}

#[test]
fn every_rule_fails_on_its_bad_fixture() {
    for rule in RULES {
        let expected = fs::read_to_string(fixture(rule).join("expected.txt")).unwrap_or_default();
        let found = findings(rule, "bad");
        assert!(!found.is_empty(), "the rule `{}` was never seen failing", rule.name);
        assert_eq!(found, expected.lines().collect::<Vec<_>>(), "the rule `{}`", rule.name);
    }
}

#[test]
fn every_rule_passes_its_good_fixture() {
    for rule in RULES {
        assert_eq!(findings(rule, "good"), [""; 0], "the rule `{}`", rule.name);
    }
}

#[test]
fn every_fixture_belongs_to_a_rule() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for entry in fs::read_dir(fixtures).expect("fixtures") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(RULES.iter().any(|rule| rule.name == name), "the fixture `{name}` has no rule");
    }
}
