//! The descriptors that one driver watches. Knows neither the driver nor the kernel.
//!
//! The kernel removes a descriptor from its set by its present file descriptor number, which may
//! belong to another descriptor by then: a leaked one was closed by its owner, or another one was
//! put in its place, as can be done with standard input. So this records, for each number, which
//! source registered it last, and only that source removes it. An earlier source has no
//! registration any more that could be named.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::epoll::Events;
use super::source::IoSource;
use super::table::{Token, TokenTable};
use crate::rt::base::sync::Lock;

/// The descriptors.
#[derive(Debug)]
pub(crate) struct Watched {
    inside: Lock<WatchTable>,
    /// How many there are, to be read without the lock.
    count: AtomicUsize,
    /// For how many of them a fiber has waited that may migrate, or runs elsewhere.
    roamed: AtomicUsize,
}

#[derive(Debug)]
struct WatchTable {
    table: TokenTable<IoSource>,
    /// Which source owns the kernel's registration of this descriptor.
    owners: HashMap<RawFd, Token>,
}

impl Watched {
    pub(crate) fn new() -> Self {
        let inside = WatchTable { table: TokenTable::new(), owners: HashMap::new() };
        Self { inside: Lock::new(inside), count: AtomicUsize::new(0), roamed: AtomicUsize::new(0) }
    }

    /// Returns whether there are none, as far as the caller can know. A thread that adds one from
    /// elsewhere makes sure that the driver is polled.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Adds a descriptor. `begin` registers it with the kernel.
    ///
    /// # Errors
    ///
    /// Returns the error of `begin`.
    pub(crate) fn enter(
        &self,
        source: &Arc<IoSource>,
        fd: RawFd,
        begin: impl FnOnce(Token) -> io::Result<()>,
    ) -> io::Result<Token> {
        self.change(|inside| {
            let token = inside.table.insert(source.clone());
            // Under the lock, so that the owner of the number does not change meanwhile.
            if let Err(error) = begin(token) {
                // The caller has a reference too, so nothing is dropped here.
                inside.table.remove(token);
                return Err(error);
            }
            inside.owners.insert(fd, token);
            Ok(token)
        })
    }

    /// Removes a descriptor. `end` removes it from the kernel's set, if this source owns the
    /// registration. No events are delivered to it after this returns.
    pub(crate) fn leave(&self, token: Token, fd: RawFd, end: impl FnOnce()) {
        let left = self.change(|inside| {
            let left = inside.table.remove(token);
            if left.is_some() && inside.owners.get(&fd) == Some(&token) {
                inside.owners.remove(&fd);
                end();
            }
            left
        });
        // Dropped without the lock.
        drop(left);
    }

    fn change<R>(&self, change: impl FnOnce(&mut WatchTable) -> R) -> R {
        let mut inside = self.inside.lock();
        let result = change(&mut inside);
        self.count.store(inside.table.len(), Ordering::Relaxed);
        result
    }

    /// Returns all descriptors with their numbers.
    pub(crate) fn all(&self) -> Vec<(Token, Arc<IoSource>)> {
        if self.is_empty() { Vec::new() } else { self.inside.lock().table.all() }
    }

    /// Wakes the waiters for these events. Returns how many.
    pub(crate) fn tell(&self, events: &Events) -> usize {
        if events.is_empty() {
            return 0;
        }
        let inside = self.inside.lock();
        events
            .iter()
            .filter_map(|(token, event)| inside.table.get(token).map(|source| source.readiness.tell(event)))
            .sum()
    }

    /// Counts a descriptor that has a waiter that may migrate, or runs elsewhere. Returns whether
    /// it is the only one.
    pub(crate) fn begin_roaming(&self) -> bool {
        self.roamed.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn end_roaming(&self) {
        self.roamed.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether there are such descriptors.
    pub(crate) fn is_roamed(&self) -> bool {
        self.roamed.load(Ordering::Relaxed) != 0
    }
}
