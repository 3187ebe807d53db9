//! The descriptors that one driver watches. Knows neither the driver nor the kernel.
//!
//! The kernel takes a descriptor out of its set by the number that it has now, and that may be another's: one that was leaked was closed by its owner, or
//! another one was put in its place, as can be done with standard input. So it is known for each number who was the last to have the kernel told of it, and
//! only that one has it taken out. Whoever comes before has nothing there any more that could be named.

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
    /// How many there are, for a look without the lock.
    count: AtomicUsize,
    /// How many of them fibers have waited for that may move, or are elsewhere.
    roamed: AtomicUsize,
}

#[derive(Debug)]
struct WatchTable {
    table: TokenTable<IoSource>,
    /// Whose it is what the kernel has for a number.
    owners: HashMap<RawFd, Token>,
}

impl Watched {
    pub(crate) fn new() -> Self {
        let inside = WatchTable { table: TokenTable::new(), owners: HashMap::new() };
        Self { inside: Lock::new(inside), count: AtomicUsize::new(0), roamed: AtomicUsize::new(0) }
    }

    /// Whether there are none, as far as the caller can know. Whoever adds one from another thread sees to it that somebody looks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// One more, of which `begin` tells the kernel.
    ///
    /// # Errors
    ///
    /// As `begin` has them.
    pub(crate) fn enter(
        &self,
        source: &Arc<IoSource>,
        fd: RawFd,
        begin: impl FnOnce(Token) -> io::Result<()>,
    ) -> io::Result<Token> {
        self.change(|inside| {
            let token = inside.table.insert(source.clone());
            // Under the lock, so that whose a number is does not change meanwhile.
            if let Err(error) = begin(token) {
                // The caller has it too, so that nothing is dropped.
                inside.table.remove(token);
                return Err(error);
            }
            inside.owners.insert(fd, token);
            Ok(token)
        })
    }

    /// One less, of which `end` tells the kernel, if it is there. Nobody tells it of events any more when this returns.
    pub(crate) fn leave(&self, token: Token, fd: RawFd, end: impl FnOnce()) {
        let left = self.change(|inside| {
            let left = inside.table.remove(token);
            if left.is_some() && inside.owners.get(&fd) == Some(&token) {
                inside.owners.remove(&fd);
                end();
            }
            left
        });
        // Without the lock.
        drop(left);
    }

    fn change<R>(&self, change: impl FnOnce(&mut WatchTable) -> R) -> R {
        let mut inside = self.inside.lock();
        let result = change(&mut inside);
        self.count.store(inside.table.len(), Ordering::Relaxed);
        result
    }

    /// All, with their numbers.
    pub(crate) fn all(&self) -> Vec<(Token, Arc<IoSource>)> {
        if self.is_empty() { Vec::new() } else { self.inside.lock().table.all() }
    }

    /// Has those go on who wait for what has happened. Returns how many.
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

    /// A fiber that may move, or one elsewhere, waits for one of them. Whether it is the only one.
    pub(crate) fn begin_roaming(&self) -> bool {
        self.roamed.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn end_roaming(&self) {
        self.roamed.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether such fibers wait, or have.
    pub(crate) fn is_roamed(&self) -> bool {
        self.roamed.load(Ordering::Relaxed) != 0
    }
}
