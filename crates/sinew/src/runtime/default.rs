//! The runtime that starts by itself.

use std::sync::OnceLock;

use super::Runtime;
use super::builder::RuntimeBuilder;
use crate::rt::Site;

static DEFAULT: OnceLock<Runtime> = OnceLock::new();

/// Where the caller makes fibers: in the runtime of the calling fiber, or in the default one, which is started if need be.
#[inline]
pub(crate) fn site() -> Site<'static> {
    Site::here().unwrap_or_else(|| Site::Outside(&default_runtime().engine))
}

#[cold]
pub(super) fn default_runtime() -> &'static Runtime {
    DEFAULT.get_or_init(|| match RuntimeBuilder::default().start() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the default runtime did not start: {error}"),
    })
}
