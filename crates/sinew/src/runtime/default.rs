//! The runtime that starts by itself.

use std::sync::{Arc, OnceLock};

use super::Runtime;
use super::builder::RuntimeBuilder;
use crate::rt::{self, Engine};

static DEFAULT: OnceLock<Runtime> = OnceLock::new();

/// Calls `with` with the engine of the calling fiber, or with that of the default runtime, which is started if need be.
#[inline]
pub(crate) fn with_current<R>(with: impl FnOnce(&Arc<Engine>) -> R) -> R {
    match rt::current_engine() {
        Some(engine) => with(engine),
        None => with(&default().engine),
    }
}

#[cold]
fn default() -> &'static Runtime {
    DEFAULT.get_or_init(|| match RuntimeBuilder::default().start() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the default runtime did not start: {error}"),
    })
}
