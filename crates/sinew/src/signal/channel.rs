//! Signals to receive. How they get here is the registry's matter.

use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::ops::Deref;

use super::number::{Signal, invalid};
use super::registry::REGISTRY;
use super::set::Set;
use crate::channel::{Iter, Receiver};

/// Receives these signals from now on, instead of whatever they would do to the process, until it is dropped.
///
/// Others may receive the same signals meanwhile: each one has all of them.
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
/// - [`InvalidInput`](io::ErrorKind::InvalidInput), if there are no signals among them, or one that no channel can have: SIGKILL and SIGSTOP,
///   which the kernel gives to nobody; and SIGSEGV, SIGBUS, SIGFPE and SIGILL, which tell of a fault of the program. Nothing has changed then.
/// - If the system has no descriptor or thread left: the first call takes one of each, which stay.
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

/// Signals, as they come. From [`channel`].
///
/// It is used as the [`Receiver`] that it dereferences to: it has [`recv`](Receiver::recv), [`recv_timeout`](Receiver::recv_timeout),
/// [`recv_cancellable`](Receiver::recv_cancellable), [`try_recv`](Receiver::try_recv) and [`iter`](Receiver::iter), and is waited for with other
/// channels by [`select!`](crate::select) and [`Select`](crate::channel::Select). Receiving never fails because nobody is left to send. A clone of
/// the receiver receives from the same channel, where each signal goes to one of them, and nothing more after this one is dropped.
///
/// At most one signal of each kind is kept. One that comes again before it is received is the same one: after the last one of a kind has come, one
/// of that kind is received. If several kinds come at once, the lower number may be first.
///
/// Dropping it puts the action back that was there before, if nobody else waits for the signal, and if nobody installed another handler meanwhile.
/// Those that are kept are lost.
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

/// All signals, for ever. From [`IntoIterator`].
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
