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

/// The highest number of a signal. The numbers begin with 1.
pub(super) const HIGHEST: i32 = 64;

/// The first number after the signals with names. The C library reserves a few numbers from here
/// on.
const FIRST_UNNAMED: i32 = 32;

/// Defines the constants of signals and their names.
macro_rules! signals {
    ($($(#[$attribute:meta])* $name:ident = $number:ident;)*) => {
        impl Signal {
            $($(#[$attribute])* pub const $name: Self = Self(libc::$number);)*
        }

        const NAMES: &[(Signal, &str)] = &[$((Signal::$name, stringify!($number))),*];
    };
}

signals! {
    /// SIGHUP: the terminal is gone. Services reload their settings on it.
    HANGUP = SIGHUP;
    /// SIGINT: Ctrl-C.
    INTERRUPT = SIGINT;
    /// SIGQUIT: Ctrl-\\. By default the process ends with a core dump.
    QUIT = SIGQUIT;
    /// SIGILL: an invalid instruction. No channel can receive it.
    ILLEGAL_INSTRUCTION = SIGILL;
    /// SIGTRAP: for debuggers.
    TRAP = SIGTRAP;
    /// SIGABRT: the process aborts, even if a channel receives it.
    ABORT = SIGABRT;
    /// SIGBUS: an invalid memory access. No channel can receive it.
    BUS = SIGBUS;
    /// SIGFPE: an arithmetic error. No channel can receive it.
    ARITHMETIC = SIGFPE;
    /// SIGKILL: ends the process. No channel can receive it.
    KILL = SIGKILL;
    /// SIGUSR1: for the program's own use.
    USER1 = SIGUSR1;
    /// SIGSEGV: an invalid memory reference. No channel can receive it.
    SEGMENTATION = SIGSEGV;
    /// SIGUSR2: for the program's own use.
    USER2 = SIGUSR2;
    /// SIGPIPE: a write to a pipe or socket without a reader. Rust programs ignore it by default.
    PIPE = SIGPIPE;
    /// SIGALRM: the timer of `alarm` has expired.
    ALARM = SIGALRM;
    /// SIGTERM: asks the process to end. Sent by `kill`.
    TERMINATE = SIGTERM;
    /// SIGSTKFLT: the kernel never sends it.
    STACK_FAULT = SIGSTKFLT;
    /// SIGCHLD: a child process has ended, stopped or continued.
    CHILD = SIGCHLD;
    /// SIGCONT: the process continues after it was stopped.
    CONTINUE = SIGCONT;
    /// SIGSTOP: stops the process. No channel can receive it.
    STOP = SIGSTOP;
    /// SIGTSTP: Ctrl-Z.
    TERMINAL_STOP = SIGTSTP;
    /// SIGTTIN: a process in the background reads from the terminal.
    TERMINAL_INPUT = SIGTTIN;
    /// SIGTTOU: a process in the background writes to the terminal.
    TERMINAL_OUTPUT = SIGTTOU;
    /// SIGURG: urgent data on a socket.
    URGENT = SIGURG;
    /// SIGXCPU: the limit of CPU time is reached.
    CPU_LIMIT = SIGXCPU;
    /// SIGXFSZ: the limit of the file size is reached.
    FILE_LIMIT = SIGXFSZ;
    /// SIGVTALRM: a timer of the process's CPU time has expired.
    VIRTUAL_ALARM = SIGVTALRM;
    /// SIGPROF: a timer for profilers has expired.
    PROFILE = SIGPROF;
    /// SIGWINCH: the size of the terminal's window has changed.
    WINDOW_CHANGE = SIGWINCH;
    /// SIGIO: a descriptor is readable or writable.
    IO = SIGIO;
    /// SIGPWR: the power fails.
    POWER = SIGPWR;
    /// SIGSYS: a filter has refused a system call.
    SYSTEM_CALL = SIGSYS;
}

impl Signal {
    /// Returns the signal with this number.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if no signal has this number, or if
    /// the C library reserves it: 32 and 33, and with some libraries 34.
    pub fn from_raw(number: i32) -> io::Result<Self> {
        let first = libc::SIGRTMIN();
        if (1..FIRST_UNNAMED).contains(&number) || (first..=HIGHEST).contains(&number) {
            Ok(Self(number))
        } else if (FIRST_UNNAMED..first).contains(&number) {
            Err(invalid(format!("signal {number} is reserved by the C library: use numbers from {first}")))
        } else {
            Err(invalid(format!("{number} is not the number of a signal: use a number from 1 to {HIGHEST}")))
        }
    }

    /// Returns the real-time signal `SIGRTMIN + number`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no such signal.
    pub fn real_time(number: u32) -> io::Result<Self> {
        let last = HIGHEST - libc::SIGRTMIN();
        match i32::try_from(number) {
            Ok(number) if number <= last => Ok(Self(libc::SIGRTMIN() + number)),
            _ => {
                Err(invalid(format!("there is no real-time signal {number}: use a number from 0 to {last}")))
            }
        }
    }

    /// Returns the number of the signal.
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }

    /// Succeeds if a channel can receive the signal.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) with the reason if not.
    pub(super) fn check(self) -> io::Result<()> {
        let why = match self {
            Self::KILL | Self::STOP => "the kernel lets no process handle it",
            Self::SEGMENTATION | Self::BUS | Self::ARITHMETIC | Self::ILLEGAL_INSTRUCTION => {
                "it reports a fault of the program, which would recur before the channel could deliver it"
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

/// Writes the system's name of the signal.
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
