//! Channels and select. crossbeam-channel is the specification: the same bodies run over it, by
//! threads, and over ours, in all crowds.

#[cfg(not(sinew_few))]
mod bodies;
#[cfg(not(sinew_few))]
mod broadcast;
#[cfg(not(sinew_few))]
mod broadcast_ends;
#[cfg(not(sinew_few))]
mod cancel;
#[cfg(not(sinew_few))]
mod clocks;
#[cfg(not(sinew_few))]
mod differences;
#[cfg(not(sinew_few))]
mod ends;
#[cfg(not(sinew_few))]
mod errors;
#[cfg(not(sinew_few))]
mod flavours;
#[cfg(not(sinew_few))]
mod histories;
#[cfg(not(sinew_few))]
mod meet;
#[cfg(not(sinew_few))]
mod misuse;
#[cfg(not(sinew_few))]
mod moments;
#[cfg(not(sinew_few))]
mod oneshot;
#[cfg(not(sinew_few))]
mod payloads;
#[cfg(not(sinew_few))]
mod promises;
#[cfg(not(sinew_few))]
mod select;
#[cfg(not(sinew_few))]
mod select_macro;
mod stress;
#[cfg(not(sinew_few))]
mod temporaries;
#[cfg(not(sinew_few))]
mod watch;
#[cfg(not(sinew_few))]
mod watch_waits;

use sinew::fiber;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// In the message of the panic of a `SelectedOperation` that is dropped.
#[cfg(not(sinew_few))]
const NOT_COMPLETED: &str = "dropped `SelectedOperation` without completing the operation";

/// All names of ours that crossbeam-channel has, too.
mod ours {
    pub(crate) use sinew::channel::{
        IntoIter, Iter, ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select, SelectTimeoutError,
        SelectedOperation, SendError, SendTimeoutError, Sender, TryIter, TryReadyError, TryRecvError,
        TrySelectError, TrySendError, after, at, bounded, never, tick, unbounded,
    };
    pub(crate) use sinew::{select, select_biased};

    /// Whether what is kept is dropped with the last receiver, not with the channel.
    pub(crate) const DROPS_WITH_RECEIVERS: bool = true;
}

/// The same names of crossbeam-channel.
mod theirs {
    #[cfg_attr(
        any(sinew_asan, sinew_tsan, target_arch = "aarch64"),
        expect(unused_imports, reason = "most tests are of ours alone there")
    )]
    pub(crate) use crossbeam_channel::{
        IntoIter, Iter, ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select, SelectTimeoutError,
        SelectedOperation, SendError, SendTimeoutError, Sender, TryIter, TryReadyError, TryRecvError,
        TrySelectError, TrySendError, after, at, bounded, never, select, select_biased, tick, unbounded,
    };

    /// Those without a bound do.
    pub(crate) const DROPS_WITH_RECEIVERS: bool = false;
}

/// Tests whose bodies run over crossbeam's channels, by threads, and over ours, in all crowds:
/// `channel` is the one or the other. Where everything takes long, over ours alone.
macro_rules! as_crossbeam {
    ($($(#[$attribute:meta])* fn $name:ident($crowd:ident) $body:block)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                #[cfg(not(any(sinew_asan, sinew_tsan, target_arch = "aarch64")))]
                {
                    use $crate::channel::theirs as channel;
                    $crate::crowd::in_threads(|$crowd: $crate::crowd::Crowd| $body);
                }
                {
                    use $crate::channel::ours as channel;
                    $crate::crowd::in_crowds(|$crowd: $crate::crowd::Crowd| $body);
                }
            }
        )*
    };
}
use as_crossbeam;

/// Lets others go on for a while, so that they probably wait for whatever they wait for. No test is
/// right because of it. A thread does so for a shorter while: where there are more threads than
/// processors, each yield may take as long as a time slice.
fn pause() {
    let many = if fiber::is_fiber() { 20 } else { 3 };
    (0..many).for_each(|_| fiber::yield_now());
}

/// A payload that counts how many of its kind there are.
#[derive(Debug)]
struct Counted {
    number: usize,
    alive: Arc<AtomicUsize>,
}

impl Counted {
    fn new(number: usize, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { number, alive: alive.clone() }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert_ne!(self.alive.fetch_sub(1, Ordering::Relaxed), 0, "one was dropped twice");
    }
}
