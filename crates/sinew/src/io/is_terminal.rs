//! Asks whether a descriptor is a terminal. Knows no kind of descriptor.

use std::os::fd::AsFd;

/// A trait to ask whether a descriptor is a terminal. It replaces [`std::io::IsTerminal`], which
/// cannot be implemented outside of std, and is implemented for all types with a descriptor, of std
/// and of this crate.
///
/// ```
/// use sinew::fs::File;
/// use sinew::io::{self, IsTerminal};
///
/// fn colours(out: &impl IsTerminal) -> bool {
///     out.is_terminal() && std::env::var_os("NO_COLOR").is_none()
/// }
///
/// assert!(!colours(&File::open("/dev/null")?));
/// println!("{} {}", colours(&io::stdout()), colours(&std::io::stdout()));
/// # Ok::<(), io::Error>(())
/// ```
///
/// If std's trait is in scope too, a call on a type of std is ambiguous: import one of them.
pub trait IsTerminal: AsFd {
    /// Returns whether the descriptor is a terminal.
    fn is_terminal(&self) -> bool;
}

impl<T: AsFd + ?Sized> IsTerminal for T {
    fn is_terminal(&self) -> bool {
        std::io::IsTerminal::is_terminal(&self.as_fd())
    }
}
