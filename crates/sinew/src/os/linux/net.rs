//! Options of sockets that Linux has: [`std::os::linux::net`].

use std::io;
use std::os::linux::net::TcpStreamExt as _;

pub use std::os::linux::net::SocketAddrExt;

use crate::net::TcpStream;

mod sealed {
    /// Nobody else implements it.
    pub trait Sealed {}

    impl Sealed for crate::net::TcpStream {}
}

/// Options of TCP that Linux has: [`std::os::linux::net::TcpStreamExt`].
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
    /// Whether what has come is acknowledged at once. The kernel may change its mind later.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    fn set_quickack(&self, quickack: bool) -> io::Result<()>;

    /// Whether what has come is acknowledged at once.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
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
