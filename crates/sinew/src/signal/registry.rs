//! The channels that receive signals, and the thread that passes signals on to them. Knows of
//! handlers only when one must be installed or removed.
//!
//! A channel holds at most one signal of each kind and has room for all kinds, so sending never
//! waits and no signal is lost. A signal that the channel already holds is received after the new
//! one arrived, so sending the new one would add nothing. A channel reports only the number of
//! signals that it holds. It delivers them in order, and only the registry sends them, so they are
//! the last ones of `sent`.

use std::collections::VecDeque;
use std::io;

use super::handler::{self, Actions};
use super::number::Signal;
use super::set::Set;
use crate::channel::{self, Receiver, Sender};
use crate::rt;
use crate::rt::sync::Lock;

/// The holder of the lock waits for nothing else, and a signal handler never acquires it.
pub(super) static REGISTRY: Lock<Registry> = Lock::new(Registry::new());

/// The channels that receive signals.
pub(super) struct Registry {
    subscribers: Vec<Subscriber>,
    actions: Actions,
    has_thread: bool,
    /// The number of the next subscriber.
    next: u64,
}

struct Subscriber {
    number: u64,
    signals: Set,
    sender: Sender<Signal>,
    /// The last signals sent, which include all that the channel holds.
    sent: VecDeque<Signal>,
}

impl Registry {
    const fn new() -> Self {
        Self { subscribers: Vec::new(), actions: Actions::new(), has_thread: false, next: 0 }
    }

    /// Adds a channel for these signals. Returns its receiver, and the number for
    /// [`unsubscribe`](Self::unsubscribe).
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no descriptor or thread left.
    pub(super) fn subscribe(&mut self, signals: Set) -> io::Result<(u64, Receiver<Signal>)> {
        self.start()?;
        self.actions.install(signals.minus(self.wanted()))?;
        let (sender, receiver) = channel::bounded(signals.len());
        let number = self.next;
        self.next += 1;
        self.subscribers.push(Subscriber { number, signals, sender, sent: VecDeque::new() });
        Ok((number, receiver))
    }

    /// Removes a channel, and restores the actions of signals that no other channel receives.
    pub(super) fn unsubscribe(&mut self, number: u64) {
        let Some(index) = self.subscribers.iter().position(|subscriber| subscriber.number == number) else {
            return;
        };
        let gone = self.subscribers.swap_remove(index);
        self.actions.restore(gone.signals.minus(self.wanted()));
    }

    /// Returns the signals that any channel receives.
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

/// Runs the thread that passes signals on, until the process ends.
fn pass_on_all() {
    let _guard = AbortOnPanic;
    loop {
        let came = handler::wait();
        REGISTRY.lock().pass_on(came);
    }
}

/// Aborts the process if the thread panics. Without the thread, signals such as Ctrl-C would have
/// no effect at all.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        std::process::abort();
    }
}
