//! The runtime that starts by itself.

use std::sync::{Mutex, OnceLock};

use super::Runtime;
use super::builder::RuntimeBuilder;
use super::error::StartError;
use crate::rt::Site;
use crate::rt::sync::ignore_poison;

static DEFAULT: OnceLock<Runtime> = OnceLock::new();

/// Locked while it is started.
static STARTING: Mutex<()> = Mutex::new(());

/// Where the caller makes fibers: in the runtime of the calling fiber, or in the default one, which is started if need be.
#[inline]
#[track_caller]
pub(crate) fn site() -> Site<'static> {
    match Site::here() {
        Some(site) => site,
        None => Site::Outside(&default_runtime().engine),
    }
}

/// # Panics
///
/// If it does not start, at the place of the caller.
#[cold]
#[track_caller]
pub(super) fn default_runtime() -> &'static Runtime {
    if let Some(runtime) = DEFAULT.get() {
        return runtime;
    }
    match start() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the default runtime did not start: {error}"),
    }
}

fn start() -> Result<&'static Runtime, StartError> {
    let _only_one = ignore_poison(STARTING.lock());
    if DEFAULT.get().is_none() {
        let runtime = RuntimeBuilder::default().start()?;
        return Ok(DEFAULT.get_or_init(|| runtime));
    }
    Ok(DEFAULT.get().expect("it is there"))
}
