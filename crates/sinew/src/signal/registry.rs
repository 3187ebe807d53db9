//! Who waits for which signals, and the thread that passes them on. Knows nothing of handlers but when there has to be one.
//!
//! A channel keeps at most one signal of each kind, and has room for that: so nothing waits when it is passed on, and nothing is lost. One that is
//! kept already will be received after the new one came, which is all that the new one could tell. The channel does not say what it keeps, but
//! how many, and hands out in order what only this sends: so they are the last ones that were sent.

use std::collections::VecDeque;
use std::io;

use super::handler::{self, Actions};
use super::number::Signal;
use super::set::Set;
use crate::channel::{self, Receiver, Sender};
use crate::rt;
use crate::rt::sync::Lock;

/// Its holder waits for nothing else, and a handler does not lock it.
pub(super) static REGISTRY: Lock<Registry> = Lock::new(Registry::new());

/// All who wait for signals.
pub(super) struct Registry {
    subscribers: Vec<Subscriber>,
    actions: Actions,
    has_thread: bool,
    /// The number of the next one.
    next: u64,
}

struct Subscriber {
    number: u64,
    signals: Set,
    sender: Sender<Signal>,
    /// The last ones that were sent: among them, all that the channel keeps.
    sent: VecDeque<Signal>,
}

impl Registry {
    const fn new() -> Self {
        Self { subscribers: Vec::new(), actions: Actions::new(), has_thread: false, next: 0 }
    }

    /// One more waits for these. Returns a number to leave by.
    ///
    /// # Errors
    ///
    /// If there is no descriptor or thread left for it.
    pub(super) fn subscribe(&mut self, signals: Set) -> io::Result<(u64, Receiver<Signal>)> {
        self.start()?;
        self.actions.install(signals.minus(self.wanted()))?;
        let (sender, receiver) = channel::bounded(signals.len());
        let number = self.next;
        self.next += 1;
        self.subscribers.push(Subscriber { number, signals, sender, sent: VecDeque::new() });
        Ok((number, receiver))
    }

    /// That one waits no more.
    pub(super) fn unsubscribe(&mut self, number: u64) {
        let Some(index) = self.subscribers.iter().position(|subscriber| subscriber.number == number) else {
            return;
        };
        let gone = self.subscribers.swap_remove(index);
        self.actions.restore(gone.signals.minus(self.wanted()));
    }

    /// What anybody waits for.
    fn wanted(&self) -> Set {
        self.subscribers.iter().fold(Set::default(), |all, subscriber| all.union(subscriber.signals))
    }

    fn start(&mut self) -> io::Result<()> {
        self.actions.prepare()?;
        if !self.has_thread {
            rt::spawn_thread("sinew-signals".to_owned(), Some(128 * 1024), pass_on_all)?;
            self.has_thread = true;
        }
        Ok(())
    }

    fn pass_on(&mut self, came: Set) {
        for subscriber in &mut self.subscribers {
            came.common(subscriber.signals).signals().for_each(|signal| subscriber.pass_on(signal));
        }
    }
}

impl Subscriber {
    fn pass_on(&mut self, signal: Signal) {
        let received = self.sent.len().saturating_sub(self.sender.len());
        self.sent.drain(..received);
        if !self.sent.contains(&signal) {
            self.sent.push_back(signal);
            let sent = self.sender.try_send(signal);
            debug_assert!(sent.is_ok(), "there is room for one of each kind, and its receiver leaves first");
        }
    }
}

/// The thread. It is there until the process ends.
fn pass_on_all() {
    let _guard = AbortOnPanic;
    loop {
        let came = handler::wait();
        REGISTRY.lock().pass_on(came);
    }
}

/// Without that thread signals would come to nothing: a Ctrl-C that does nothing is worse than an end.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        std::process::abort();
    }
}
