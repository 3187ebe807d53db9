//! The default engine, which starts when it is first used.

use std::sync::{Arc, Mutex, OnceLock};

use sinew_sched::Pool;

use super::error::StartError;
use super::spec::Spec;
use crate::rt::sync::ignore_poison;
use crate::rt::{Engine, Site};

/// The default engine and its pool. It is never dropped.
static DEFAULT: OnceLock<(Arc<Engine>, Pool)> = OnceLock::new();

/// Locked while the default engine is started.
static STARTING: Mutex<()> = Mutex::new(());

/// Returns the site where the caller spawns fibers: in the runtime of the calling fiber, or in the
/// default one, which is started if necessary.
#[inline]
#[track_caller]
pub(crate) fn site() -> Site<'static> {
    match Site::here() {
        Some(site) => site,
        None => Site::Outside(default_engine().host()),
    }
}

/// Returns the engine of the caller's worker, or the default one, which is started if necessary.
#[track_caller]
pub(crate) fn engine() -> Arc<Engine> {
    Engine::current().unwrap_or_else(|| default_engine().clone())
}

/// Returns the default engine, which is started if necessary.
///
/// # Panics
///
/// Panics if it cannot be started, with the location of the caller.
#[cold]
#[track_caller]
pub(crate) fn default_engine() -> &'static Arc<Engine> {
    if let Some((engine, _)) = DEFAULT.get() {
        return engine;
    }
    match start() {
        Ok((engine, _)) => engine,
        Err(error) => panic!("the default runtime did not start: {error}"),
    }
}

fn start() -> Result<&'static (Arc<Engine>, Pool), StartError> {
    let _only_one = ignore_poison(STARTING.lock());
    if DEFAULT.get().is_none() {
        let started = Spec::default().start()?;
        return Ok(DEFAULT.get_or_init(|| started));
    }
    Ok(DEFAULT.get().expect("it is there"))
}
