//! Iterators over messages, for all kinds of receivers.

use std::iter::FusedIterator;

use super::receiver::Receiver;
use crate::rt::impl_debug;

/// Defines the iterators over the messages of a receiver. The attributes are added to the types.
macro_rules! message_iterators {
    ($(#[$attribute:meta])*) => {
        /// An iterator over all messages of a [`Receiver`] until all senders are gone. From
        /// [`Receiver::iter`].
        $(#[$attribute])*
        pub struct Iter<'a, T> {
            rx: &'a Receiver<T>,
        }

        /// An iterator over the messages that a [`Receiver`] has now. From [`Receiver::try_iter`].
        $(#[$attribute])*
        pub struct TryIter<'a, T> {
            rx: &'a Receiver<T>,
        }

        /// An iterator over all messages of a [`Receiver`], which it owns. From [`IntoIterator`].
        $(#[$attribute])*
        pub struct IntoIter<T> {
            rx: Receiver<T>,
        }

        impl<'a, T> Iter<'a, T> {
            pub(super) fn new(rx: &'a Receiver<T>) -> Self {
                Self { rx }
            }
        }

        impl<'a, T> TryIter<'a, T> {
            pub(super) fn new(rx: &'a Receiver<T>) -> Self {
                Self { rx }
            }
        }

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.rx.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.rx.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.rx.recv().ok()
            }
        }

        impl<'a, T> IntoIterator for &'a Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter { rx: self }
            }
        }
    };
}

pub(crate) use message_iterators;

message_iterators!();

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl_debug!(Iter<'a, T>, ..);

impl_debug!(TryIter<'a, T>, ..);

impl_debug!(IntoIter<T>, ..);
