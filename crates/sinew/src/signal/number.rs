//! Signals by number and name. Knows nothing of how they arrive.

use std::fmt;
use std::io;

/// A signal of the operating system.
///
/// ```
/// use sinew::signal::Signal;
///
/// assert_eq!(Signal::TERMINATE.to_string(), "SIGTERM");
/// assert_eq!(Signal::from_raw(2)?, Signal::INTERRUPT);
/// assert_eq!(Signal::real_time(3)?.to_string(), "SIGRTMIN+3");
/// assert!(Signal::from_raw(0).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(
    /// # Invariant
    ///
    /// From 1 to [`HIGHEST`].
    pub(super) i32,
);

/// The kernel has this many, and they begin with 1.
pub(super) const HIGHEST: i32 = 64;

/// The first number after those with names of their own: the C library keeps a few from here on for itself.
const FIRST_UNNAMED: i32 = 32;

/// Makes constants of signals, and their names.
macro_rules! signals {
    ($($(#[$attribute:meta])* $name:ident = $number:ident;)*) => {
        impl Signal {
            $($(#[$attribute])* pub const $name: Self = Self(libc::$number);)*
        }

        const NAMES: &[(Signal, &str)] = &[$((Signal::$name, stringify!($number))),*];
    };
}

signals! {
    /// SIGHUP: the terminal is gone; services take it for a wish to read their settings again.
    HANGUP = SIGHUP;
    /// SIGINT: Ctrl-C.
    INTERRUPT = SIGINT;
    /// SIGQUIT: Ctrl-\\. Without anybody who waits for it, the process dumps its core.
    QUIT = SIGQUIT;
    /// SIGILL: no channel can have it.
    ILLEGAL_INSTRUCTION = SIGILL;
    /// SIGTRAP: for debuggers.
    TRAP = SIGTRAP;
    /// SIGABRT: the process aborts, and does so whoever hears of it.
    ABORT = SIGABRT;
    /// SIGBUS: no channel can have it.
    BUS = SIGBUS;
    /// SIGFPE: no channel can have it.
    ARITHMETIC = SIGFPE;
    /// SIGKILL: no channel can have it.
    KILL = SIGKILL;
    /// SIGUSR1: whatever the program likes.
    USER1 = SIGUSR1;
    /// SIGSEGV: no channel can have it.
    SEGMENTATION = SIGSEGV;
    /// SIGUSR2: whatever the program likes.
    USER2 = SIGUSR2;
    /// SIGPIPE: nobody reads what was written. Programs in Rust ignore it from the start.
    PIPE = SIGPIPE;
    /// SIGALRM: the timer of `alarm` is over.
    ALARM = SIGALRM;
    /// SIGTERM: the process is asked to end. What `kill` sends.
    TERMINATE = SIGTERM;
    /// SIGSTKFLT: the kernel never sends it.
    STACK_FAULT = SIGSTKFLT;
    /// SIGCHLD: a child process has ended, stopped or gone on.
    CHILD = SIGCHLD;
    /// SIGCONT: the process goes on, after it was stopped.
    CONTINUE = SIGCONT;
    /// SIGSTOP: no channel can have it.
    STOP = SIGSTOP;
    /// SIGTSTP: Ctrl-Z.
    TERMINAL_STOP = SIGTSTP;
    /// SIGTTIN: a process in the background reads from the terminal.
    TERMINAL_INPUT = SIGTTIN;
    /// SIGTTOU: a process in the background writes to the terminal.
    TERMINAL_OUTPUT = SIGTTOU;
    /// SIGURG: urgent data on a socket.
    URGENT = SIGURG;
    /// SIGXCPU: the limit of processor time is reached.
    CPU_LIMIT = SIGXCPU;
    /// SIGXFSZ: the limit of a file's size is reached.
    FILE_LIMIT = SIGXFSZ;
    /// SIGVTALRM: a timer of the process's own time is over.
    VIRTUAL_ALARM = SIGVTALRM;
    /// SIGPROF: a timer of profilers is over.
    PROFILE = SIGPROF;
    /// SIGWINCH: the terminal's window has another size.
    WINDOW_CHANGE = SIGWINCH;
    /// SIGIO: something can be read or written.
    IO = SIGIO;
    /// SIGPWR: the power fails.
    POWER = SIGPWR;
    /// SIGSYS: a system call was refused by a filter.
    SYSTEM_CALL = SIGSYS;
}

impl Signal {
    /// The signal with this number.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), if there is none, or it is one that the C library keeps for itself: 32 and 33, with some
    /// libraries 34 too.
    pub fn from_raw(number: i32) -> io::Result<Self> {
        let first = libc::SIGRTMIN();
        if (1..FIRST_UNNAMED).contains(&number) || (first..=HIGHEST).contains(&number) {
            Ok(Self(number))
        } else if (FIRST_UNNAMED..first).contains(&number) {
            Err(invalid(format!(
                "signal {number} is the C library's own: those for programs begin with {first}"
            )))
        } else {
            Err(invalid(format!("{number} is not the number of a signal: they are from 1 to {HIGHEST}")))
        }
    }

    /// The real-time signal with this number, counted from 0: `SIGRTMIN` plus so many.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), if there are not so many.
    pub fn real_time(number: u32) -> io::Result<Self> {
        let last = HIGHEST - libc::SIGRTMIN();
        match i32::try_from(number) {
            Ok(number) if number <= last => Ok(Self(libc::SIGRTMIN() + number)),
            _ => Err(invalid(format!("there is no real-time signal {number}: they are from 0 to {last}"))),
        }
    }

    /// Its number.
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }

    /// Whether a channel can have it.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), with the reason, if not.
    pub(super) fn check(self) -> io::Result<()> {
        let why = match self {
            Self::KILL | Self::STOP => "the kernel lets no process have it",
            Self::SEGMENTATION | Self::BUS | Self::ARITHMETIC | Self::ILLEGAL_INSTRUCTION => {
                "it tells of a fault of the program, which would happen again and again while somebody is told"
            }
            _ => return Ok(()),
        };
        Err(invalid(format!("{self} cannot be received from a channel: {why}")))
    }
}

pub(super) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

impl From<Signal> for i32 {
    fn from(signal: Signal) -> Self {
        signal.0
    }
}

impl TryFrom<i32> for Signal {
    type Error = io::Error;

    fn try_from(number: i32) -> io::Result<Self> {
        Self::from_raw(number)
    }
}

/// The name that the system has for it.
impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(signal, _)| signal == self) {
            Some((_, name)) => f.pad(name),
            None => f.pad(&format!("SIGRTMIN+{}", self.0 - libc::SIGRTMIN())),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
