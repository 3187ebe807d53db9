//! Socket options specific to Linux, with the names of [`std::os::linux::net`].

use std::io;
use std::os::linux::net::TcpStreamExt as _;

pub use std::os::linux::net::SocketAddrExt;

use crate::net::TcpStream;

mod sealed {
    /// Prevents implementations outside of this crate.
    pub trait Sealed {}

    impl Sealed for crate::net::TcpStream {}
}

/// TCP options specific to Linux: [`std::os::linux::net::TcpStreamExt`] for this crate's stream.
///
/// ```
/// use sinew::net::{TcpListener, TcpStream};
/// use sinew::os::linux::net::TcpStreamExt;
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let stream = TcpStream::connect(listener.local_addr()?)?;
/// stream.set_quickack(true)?;
/// assert!(stream.quickack()?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait TcpStreamExt: sealed::Sealed {
    /// Sets whether received data is acknowledged at once (`TCP_QUICKACK`). The kernel may change
    /// this setting later.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    fn set_quickack(&self, quickack: bool) -> io::Result<()>;

    /// Returns whether received data is acknowledged at once.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    fn quickack(&self) -> io::Result<bool>;
}

impl TcpStreamExt for TcpStream {
    fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        self.as_std().set_quickack(quickack)
    }

    fn quickack(&self) -> io::Result<bool> {
        self.as_std().quickack()
    }
}
