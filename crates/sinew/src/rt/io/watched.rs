//! The descriptors that one driver watches. Knows neither the driver nor the kernel.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::epoll::Events;
use super::source::Source;
use super::table::{Table, Token};

/// The descriptors.
#[derive(Debug)]
pub(crate) struct Watched {
    table: Mutex<Table<Source>>,
    /// How many there are, for a look without the lock.
    count: AtomicUsize,
    /// How many of them fibers have waited for that may move.
    roamed: AtomicUsize,
}

impl Watched {
    pub(crate) fn new() -> Self {
        Self { table: Mutex::new(Table::new()), count: AtomicUsize::new(0), roamed: AtomicUsize::new(0) }
    }

    /// Whether there are none, as far as the caller can know. Whoever adds one from another thread sees to it that somebody looks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// One more, of which `begin` tells the kernel.
    pub(crate) fn enter(
        &self,
        source: &Arc<Source>,
        begin: impl FnOnce(Token) -> io::Result<()>,
    ) -> io::Result<Token> {
        let token = self.change(|table| table.insert(source.clone()));
        // The first event may come before this returns.
        if let Err(error) = begin(token) {
            self.leave(token);
            return Err(error);
        }
        Ok(token)
    }

    /// One less. Whether it was there. Nobody tells it of events any more when this returns.
    pub(crate) fn leave(&self, token: Token) -> bool {
        // It is dropped without the lock.
        let left = self.change(|table| table.remove(token));
        left.is_some()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Table<Source>) -> R) -> R {
        let mut table = self.lock();
        let result = change(&mut table);
        self.count.store(table.len(), Ordering::Relaxed);
        result
    }

    /// All, with their numbers.
    pub(crate) fn all(&self) -> Vec<(Token, Arc<Source>)> {
        if self.is_empty() { Vec::new() } else { self.lock().all() }
    }

    /// Has those go on who wait for what has happened. Returns how many.
    pub(crate) fn tell(&self, events: &Events) -> usize {
        if events.iter().next().is_none() {
            return 0;
        }
        let table = self.lock();
        events.iter().filter_map(|(token, news)| table.get(token).map(|source| source.tell(news))).sum()
    }

    /// A fiber that may move waits for one of them. Whether it is the only one.
    pub(crate) fn begin_roaming(&self) -> bool {
        self.roamed.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn end_roaming(&self) {
        self.roamed.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether fibers that may move wait here, or have.
    pub(crate) fn is_roamed(&self) -> bool {
        self.roamed.load(Ordering::Relaxed) != 0
    }

    fn lock(&self) -> MutexGuard<'_, Table<Source>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
