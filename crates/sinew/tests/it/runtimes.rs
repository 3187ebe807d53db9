//! What these tests run over: runtimes of several sizes, pinned and migrating, under watch, and
//! empty at the end.
//!
//! # Safety
//!
//! Trusted with the promise that fibers may migrate: nothing in the bodies of tests that run here
//! cares about its thread across a suspension.
#![expect(unsafe_code, reason = "a runtime whose fibers migrate takes a promise")]

use super::support::{strategies, watch_test_with};
use sinew::{Runtime, RuntimeBuilder, Strategy};

/// Whether started fibers of a runtime move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pinned,
    Migrating,
}

pub(crate) const KINDS: [Kind; 2] = [Kind::Pinned, Kind::Migrating];

/// A runtime.
pub(crate) fn start(workers: usize, kind: Kind) -> Runtime {
    start_with(workers, kind, Strategy::default())
}

fn start_with(workers: usize, kind: Kind, strategy: Strategy) -> Runtime {
    builder(workers, kind).strategy(strategy).start().unwrap()
}

/// A runtime with more settings to come.
pub(crate) fn builder(workers: usize, kind: Kind) -> RuntimeBuilder {
    let builder = Runtime::builder().workers(workers);
    match kind {
        Kind::Pinned => builder,
        // SAFETY: the promise of this file's header.
        Kind::Migrating => unsafe { builder.assume_migration_safe() },
    }
}

/// Runs a test over all sizes and kinds. All fibers have ended afterwards.
pub(crate) fn each(test: impl Fn(&Runtime, Kind)) {
    each_of(&[1, 2, 8], test);
}

/// Runs a test over some sizes, all kinds and both strategies. All fibers have ended afterwards.
pub(crate) fn each_of(sizes: &[usize], test: impl Fn(&Runtime, Kind)) {
    for &workers in sizes {
        for (kind, strategy) in
            KINDS.into_iter().flat_map(|kind| strategies().into_iter().map(move |strategy| (kind, strategy)))
        {
            let _watchdog = watch_test_with(format!("{workers} workers, {kind:?}, {strategy}"));
            let runtime = start_with(workers, kind, strategy);
            test(&runtime, kind);
            finish(runtime);
        }
    }
}

/// Shuts a runtime down; nothing is left.
pub(crate) fn finish(runtime: Runtime) {
    let report = runtime.shutdown(None);
    assert!(report.drained && report.discarded == 0 && report.leaked.is_empty(), "{report:?}");
}
