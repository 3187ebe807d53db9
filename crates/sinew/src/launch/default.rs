//! The engine that starts by itself.

use std::sync::{Arc, Mutex, OnceLock};

use sinew_sched::Pool;

use super::error::StartError;
use super::spec::Spec;
use crate::rt::sync::ignore_poison;
use crate::rt::{Engine, Site};

/// With the pool, which it keeps: a default engine is never dropped.
static DEFAULT: OnceLock<(Arc<Engine>, Pool)> = OnceLock::new();

/// Locked while it is started.
static STARTING: Mutex<()> = Mutex::new(());

/// Where the caller makes fibers: in the runtime of the calling fiber, or in the default one, which
/// is started if need be.
#[inline]
#[track_caller]
pub(crate) fn site() -> Site<'static> {
    match Site::here() {
        Some(site) => site,
        None => Site::Outside(default_engine().host()),
    }
}

/// The engine of the caller's worker, or the default one, which is started if need be.
#[track_caller]
pub(crate) fn engine() -> Arc<Engine> {
    Engine::current().unwrap_or_else(|| default_engine().clone())
}

/// # Panics
///
/// If it does not start, at the place of the caller.
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
