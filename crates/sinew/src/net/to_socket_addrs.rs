//! What stands for addresses of sockets. Knows no sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::{io, iter, option, slice, vec};

use super::resolve::off_worker;

/// What stands for one or more addresses: [`std::net::ToSocketAddrs`], for the same types and with the same results.
///
/// It is a trait of its own, since std's looks names up at once, which may take many seconds and would hold up all fibers of the worker. This one does so on
/// another thread while the calling fiber waits, and a [cancel or a deadline](crate::fiber#stopping) ends that wait.
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
    /// The addresses, one after the other.
    type Iter: Iterator<Item = SocketAddr>;

    /// Finds the addresses out. There may be several, or none.
    ///
    /// # Errors
    ///
    /// If what is given makes no sense, or is a name that cannot be looked up; and if the caller is to stop.
    ///
    /// # Panics
    ///
    /// If a name has to be looked up, and the caller is inside [`no_suspend`](crate::fiber::no_suspend).
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

/// For types that need not be looked up: as std has it.
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
