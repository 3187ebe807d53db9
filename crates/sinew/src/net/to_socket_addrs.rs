//! Types that can be resolved to socket addresses. Knows no sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::{io, iter, option, slice, vec};

use super::resolve::off_worker;

/// Types that can be resolved to socket addresses: [`std::net::ToSocketAddrs`], for the same types
/// and with the same results.
///
/// This is a separate trait because std's resolves names on the calling thread. That may take many
/// seconds, and would block all fibers of the worker. This trait resolves names on another thread
/// while the calling fiber waits, and a [cancel or a deadline](crate::fiber#stopping) ends the
/// wait.
///
/// ```
/// use sinew::net::{SocketAddr, ToSocketAddrs};
///
/// let mut addrs = "127.0.0.1:80".to_socket_addrs()?;
/// assert_eq!(addrs.next(), Some(SocketAddr::from(([127, 0, 0, 1], 80))));
/// assert!("127.0.0.1".to_socket_addrs().is_err(), "there is no port");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ToSocketAddrs {
    /// The iterator over the addresses.
    type Iter: Iterator<Item = SocketAddr>;

    /// Resolves `self` to addresses. There may be several or none.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is malformed, if the name cannot be resolved, or if the caller
    /// is stopped.
    ///
    /// # Panics
    ///
    /// Panics if a name has to be resolved and the caller is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

/// Implements the trait by std's, for types that need no name resolution.
macro_rules! at_once {
    ($($type:ty),* $(,)?) => {
        $(
            impl ToSocketAddrs for $type {
                type Iter = option::IntoIter<SocketAddr>;

                #[inline]
                fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                    std::net::ToSocketAddrs::to_socket_addrs(self)
                }
            }
        )*
    };
}

at_once!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        let (host, port) = *self;
        match host.parse::<IpAddr>() {
            Ok(ip) => Ok(vec![SocketAddr::new(ip, port)].into_iter()),
            Err(_) => look_up((host.to_owned(), port)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (&*self.0, self.1).to_socket_addrs()
    }
}

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        match self.parse() {
            Ok(addr) => Ok(vec![addr].into_iter()),
            Err(_) => look_up(self.to_owned()),
        }
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = iter::Cloned<slice::Iter<'a, SocketAddr>>;

    #[inline]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().cloned())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;

    #[inline]
    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<T::Iter> {
        (**self).to_socket_addrs()
    }
}

#[cold]
#[track_caller]
fn look_up<A>(name: A) -> io::Result<vec::IntoIter<SocketAddr>>
where
    A: std::net::ToSocketAddrs<Iter = vec::IntoIter<SocketAddr>> + Send + 'static,
{
    off_worker(move || name.to_socket_addrs())?
}
