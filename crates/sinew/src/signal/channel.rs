//! Channels that receive signals. Knows not how signals arrive.

use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::ops::Deref;

use super::number::{Signal, invalid};
use super::registry::REGISTRY;
use super::set::Set;
use crate::channel::{Iter, Receiver};

/// Returns a channel that receives these signals from now on until it is dropped. Meanwhile they
/// have no other effect on the process.
///
/// Several channels may receive the same signals: each of them gets all.
///
/// ```no_run
/// use sinew::signal::{self, Signal};
///
/// for signal in signal::channel([Signal::HANGUP, Signal::USER1])? {
///     match signal {
///         Signal::HANGUP => println!("reading the settings again"),
///         other => println!("{other}"),
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// - Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if `signals` is empty or contains a
///   signal that no channel can receive: SIGKILL and SIGSTOP, which no process can handle, and
///   SIGSEGV, SIGBUS, SIGFPE and SIGILL, which report a fault of the program. Nothing changes then.
/// - Returns an error if the system has no descriptor or thread left. The first call takes one of
///   each and keeps them.
pub fn channel(signals: impl IntoIterator<Item = Signal>) -> io::Result<Signals> {
    let signals = signals.into_iter().collect();
    subscribe(signals)
}

fn subscribe(signals: Set) -> io::Result<Signals> {
    if signals.is_empty() {
        return Err(invalid("a channel of signals needs at least one signal".to_owned()));
    }
    signals.signals().try_for_each(Signal::check)?;
    let (number, receiver) = REGISTRY.lock().subscribe(signals)?;
    Ok(Signals { number, signals, receiver })
}

/// A channel of signals, made by [`channel`].
///
/// It dereferences to a [`Receiver`], and provides [`recv`](Receiver::recv),
/// [`recv_timeout`](Receiver::recv_timeout), [`recv_cancellable`](Receiver::recv_cancellable),
/// [`try_recv`](Receiver::try_recv) and [`iter`](Receiver::iter). [`select!`](crate::select) and
/// [`Select`](crate::channel::Select) wait for it together with other channels. Receiving never
/// fails for lack of senders. A clone of the receiver receives from the same channel: each signal
/// goes to one of them, and none after this value is dropped.
///
/// The channel holds at most one signal of each kind. A signal that arrives again before it is
/// received is merged with the first: after the last signal of a kind has arrived, one of that kind
/// is received. If several kinds arrive at once, the lower number may be received first.
///
/// Dropping the channel restores the former action of each signal, unless another channel receives
/// the signal, or another handler was installed meanwhile. Signals that the channel holds are lost.
///
/// ```
/// use sinew::signal::{self, Signal};
/// use sinew::{channel, fiber, select};
///
/// let signals = signal::channel([Signal::TERMINATE, Signal::USER1])?;
/// let (sender, numbers) = channel::bounded(1);
/// fiber::spawn(move || sender.send(1).unwrap());
/// select! {
///     recv(signals) -> signal => println!("{}", signal.unwrap()),
///     recv(numbers) -> number => assert_eq!(number, Ok(1)),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "dropping it gives the signals back"]
pub struct Signals {
    number: u64,
    signals: Set,
    receiver: Receiver<Signal>,
}

impl Deref for Signals {
    type Target = Receiver<Signal>;

    fn deref(&self) -> &Receiver<Signal> {
        &self.receiver
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        REGISTRY.lock().unsubscribe(self.number);
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signals").field(&self.signals).finish()
    }
}

/// An iterator over signals that never ends, made by [`IntoIterator`].
#[derive(Debug)]
pub struct IntoIter(Signals);

impl Iterator for IntoIter {
    type Item = Signal;

    fn next(&mut self) -> Option<Signal> {
        self.0.recv().ok()
    }
}

impl FusedIterator for IntoIter {}

impl IntoIterator for Signals {
    type Item = Signal;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self)
    }
}

impl<'a> IntoIterator for &'a Signals {
    type Item = Signal;
    type IntoIter = Iter<'a, Signal>;

    fn into_iter(self) -> Iter<'a, Signal> {
        self.receiver.iter()
    }
}
