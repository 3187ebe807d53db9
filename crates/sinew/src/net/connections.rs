//! The iterator over connections that servers use. One macro makes it for each kind of listener.

use std::net::SocketAddr;

use super::tcp_listener::TcpListener;
use super::tcp_stream::TcpStream;

/// Defines the iterator over the connections of a kind of listener.
macro_rules! connections {
    ($listener:ident => $stream:ty, $address:ty) => {
        #[doc = concat!("Accepts connections for the lifetime of a server: see [`", stringify!($listener), "::connections`].")]
        ///
        /// Errors do not end the iteration. It ends when the listener is closed, or can accept no
        /// more, or when the caller is stopped.
        #[derive(Debug)]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        pub struct Connections<'a> {
            pub(super) accepting: $crate::net::Accepting<'a, $listener>,
        }

        impl Connections<'_> {
            #[doc = concat!("Returns the error that ended the iteration, if it has ended: [`ConnectionAborted`](std::io::ErrorKind::ConnectionAborted) after [`close`](", stringify!($listener), "::close), a")]
            /// [`Stopped`](crate::fiber::Stopped) if the caller was stopped.
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
