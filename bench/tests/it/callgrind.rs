//! `callgrind`: the parts that need no valgrind, which takes too long here.

use crate::{outcome, program};

#[test]
fn without_valgrind_it_exits_with_3() {
    let outcome = outcome(program().arg("callgrind").arg("--check").env("PATH", "/no/such/directory"));
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stderr.contains("valgrind is not installed"), "{}", outcome.stderr);
}
