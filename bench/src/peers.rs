//! The peers. A peer is named once, here. What it does in a workload is in that workload's file.

use crate::foreign::{Boost, Go, Java, Toolchain};
use crate::runtimes::Flavour;
use sinew::Strategy;

/// A library or runtime that workloads measure.
pub(crate) struct Peer {
    /// Its name on the command line and in results.
    pub(crate) name: &'static str,
    /// What it is, in a few words.
    pub(crate) what: &'static str,
    /// Where its code is.
    pub(crate) home: Home,
}

/// Where a peer's code is.
pub(crate) enum Home {
    /// Ours, in one flavour.
    Ours(Flavour),
    /// Rust, linked into this program, which starts itself again as the child.
    Here,
    /// A program of its own in another language.
    Foreign(&'static dyn Toolchain),
}

/// Ours.
pub(crate) static SINEW: Peer =
    Peer { name: "sinew", what: "this repository", home: Home::Ours(Flavour::DEFAULT) };

/// Ours, with fibers that may continue on another worker after any suspension.
pub(crate) static SINEW_MIGRATING: Peer = Peer {
    name: "sinew-migrating",
    what: "this repository, fibers that move",
    home: Home::Ours(Flavour::DEFAULT.migrating()),
};

/// Ours, with one queue for the workers of a group.
pub(crate) static SINEW_SHARED: Peer = Peer {
    name: "sinew-shared",
    what: "this repository, with shared queues",
    home: Home::Ours(Flavour::DEFAULT.with(Strategy::Shared)),
};

/// Ours, with one queue for the workers of a group and with fibers that may move.
pub(crate) static SINEW_SHARED_MIGRATING: Peer = Peer {
    name: "sinew-shared-migrating",
    what: "this repository, with shared queues, fibers that move",
    home: Home::Ours(Flavour::DEFAULT.with(Strategy::Shared).migrating()),
};

/// Ours, with the default strategy given explicitly.
pub(crate) static SINEW_LOCAL: Peer = Peer {
    name: "sinew-local",
    what: "this repository, with a deque for each worker: the default (only when named)",
    home: Home::Ours(Flavour::DEFAULT.with(Strategy::Local)),
};

/// Ours, with the default strategy given explicitly and with fibers that may move.
pub(crate) static SINEW_LOCAL_MIGRATING: Peer = Peer {
    name: "sinew-local-migrating",
    what: "this repository, with a deque for each worker, fibers that move (only when named)",
    home: Home::Ours(Flavour::DEFAULT.with(Strategy::Local).migrating()),
};

/// Ours, with workers in groups of eight.
pub(crate) static SINEW_GROUPS: Peer = Peer {
    name: "sinew-groups",
    what: "this repository, workers in groups of 8 (only when named)",
    home: Home::Ours(Flavour::DEFAULT.in_groups_of(8)),
};

/// Ours, with a timer thread, as other systems have.
pub(crate) static TIMER_THREAD: Peer = Peer {
    name: "timer-thread",
    what: "this repository, with a thread for timers (only when named)",
    home: Home::Here,
};

/// The fastest Rust coroutines.
pub(crate) static COROSENSEI: Peer =
    Peer { name: "corosensei", what: "Rust, stackful coroutines", home: Home::Here };

/// The coroutines under `may`.
pub(crate) static GENERATOR: Peer =
    Peer { name: "generator", what: "Rust, stackful generators", home: Home::Here };

/// What the C library offers.
pub(crate) static SWAPCONTEXT: Peer =
    Peer { name: "swapcontext", what: "C library, ucontext", home: Home::Here };

/// The runtime that most Rust programs have.
pub(crate) static TOKIO: Peer =
    Peer { name: "tokio", what: "Rust, futures on a multi-thread runtime", home: Home::Here };

/// The same runtime on the thread that starts it.
pub(crate) static TOKIO_CT: Peer =
    Peer { name: "tokio-ct", what: "Rust, futures on a runtime of one thread", home: Home::Here };

/// The runtime whose coroutines have stacks, as ours do.
pub(crate) static MAY: Peer =
    Peer { name: "may", what: "Rust, stackful coroutines on a work-stealing runtime", home: Home::Here };

/// Fork and join.
pub(crate) static RAYON: Peer =
    Peer { name: "rayon", what: "Rust, closures on a work-stealing pool", home: Home::Here };

/// What the system has in place of fibers.
pub(crate) static THREADS: Peer =
    Peer { name: "threads", what: "Rust, threads of the operating system", home: Home::Here };

/// The locks that most threaded Rust programs use beside those of std.
pub(crate) static PARKING_LOT: Peer =
    Peer { name: "parking_lot", what: "Rust, locks for threads", home: Home::Here };

/// The channels that most threaded Rust programs use.
pub(crate) static CROSSBEAM: Peer =
    Peer { name: "crossbeam", what: "Rust, channels for threads", home: Home::Here };

/// The least that every runtime with sockets must do.
pub(crate) static EPOLL_RAW: Peer =
    Peer { name: "epoll-raw", what: "a hand-written event loop, the limit", home: Home::Here };

/// The same, searching for events for a while before it sleeps.
pub(crate) static EPOLL_BUSY: Peer =
    Peer { name: "epoll-busy", what: "the same, searching for 50 µs before it sleeps", home: Home::Here };

/// The same as `epoll-raw`, but through mio.
pub(crate) static EPOLL_MIO: Peer =
    Peer { name: "epoll-mio", what: "the same as epoll-raw, through mio", home: Home::Here };

/// The least that every stack must do.
pub(crate) static FAULTS: Peer =
    Peer { name: "faults", what: "bare page faults, the limit", home: Home::Here };

/// C++.
pub(crate) static BOOST: Peer =
    Peer { name: "boost", what: "C++, Boost.Context and Boost.Fiber", home: Home::Foreign(&Boost) };

/// Go.
pub(crate) static GO: Peer =
    Peer { name: "go", what: "Go, goroutines, and iter.Pull for bare ones", home: Home::Foreign(&Go) };

/// Java.
pub(crate) static JAVA: Peer =
    Peer { name: "java", what: "Java, the continuation under virtual threads", home: Home::Foreign(&Java) };

/// All peers, in the order of lists.
pub(crate) static ALL: [&Peer; 25] = [
    &SINEW,
    &SINEW_MIGRATING,
    &SINEW_SHARED,
    &SINEW_SHARED_MIGRATING,
    &SINEW_LOCAL,
    &SINEW_LOCAL_MIGRATING,
    &SINEW_GROUPS,
    &TIMER_THREAD,
    &COROSENSEI,
    &GENERATOR,
    &SWAPCONTEXT,
    &TOKIO,
    &TOKIO_CT,
    &MAY,
    &RAYON,
    &THREADS,
    &PARKING_LOT,
    &CROSSBEAM,
    &EPOLL_RAW,
    &EPOLL_BUSY,
    &EPOLL_MIO,
    &FAULTS,
    &BOOST,
    &GO,
    &JAVA,
];

impl Peer {
    /// Returns the flavour of ours that this peer is, or the default flavour.
    pub(crate) fn flavour(&self) -> Flavour {
        match self.home {
            Home::Ours(flavour) => flavour,
            Home::Here | Home::Foreign(_) => Flavour::DEFAULT,
        }
    }

    /// Returns whether this peer takes part only if it is named. Such a peer is another one under
    /// another name, or answers a few special questions only.
    pub(crate) fn is_on_request(&self) -> bool {
        let flavour = self.flavour();
        flavour.strategy == Some(Strategy::Local) || flavour.group.is_some() || self.name == TIMER_THREAD.name
    }

    /// Returns the peer of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|peer| peer.name == name)
    }

    /// Returns the version found on this machine.
    ///
    /// # Errors
    ///
    /// What is missing for this peer to run here.
    pub(crate) fn available(&self) -> Result<String, String> {
        match self.home {
            Home::Ours(_) | Home::Here => Ok("built in".to_owned()),
            Home::Foreign(toolchain) => toolchain.find().map(|found| found.version),
        }
    }
}
