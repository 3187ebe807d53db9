//! The connections of a listener, for as long as a server lives: for all kinds of listeners.

use std::net::SocketAddr;

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;

/// The iterator over the connections of a kind of listener.
macro_rules! connections {
    ($listener:ident => $stream:ty, $address:ty) => {
        #[doc = concat!("Accepts one connection after the other: [`", stringify!($listener), "::connections`].")]
        ///
        /// It goes on whatever happens, until the listener is closed or the caller is to stop.
        #[derive(Debug)]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        pub struct Connections<'a> {
            pub(super) accepting: $crate::net::Accepting<'a, $listener>,
        }

        impl Connections<'_> {
            #[doc = concat!("Why it has ended, once it has: [`ConnectionAborted`](std::io::ErrorKind::ConnectionAborted) after [`close`](", stringify!($listener), "::close), a")]
            /// [`Stopped`](crate::fiber::Stopped) if the caller is to stop.
            #[must_use]
            pub fn error(&self) -> Option<&std::io::Error> {
                self.accepting.error()
            }
        }

        impl Iterator for Connections<'_> {
            type Item = ($stream, $address);

            #[track_caller]
            fn next(&mut self) -> Option<Self::Item> {
                self.accepting.next()
            }
        }

        impl std::iter::FusedIterator for Connections<'_> {}
    };
}

pub(crate) use connections;

connections!(TcpListener => TcpStream, SocketAddr);
