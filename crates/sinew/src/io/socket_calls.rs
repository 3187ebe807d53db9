//! What sockets that move bytes have alike, with the names of std: addresses, clones, and how their calls wait. Knows no kind of socket.

/// The calls, for a type with a `handle`.
macro_rules! socket_calls {
    ($type:ty, $address:ty) => {
        impl $type {
            /// Returns the address of this end: with its port, if one was chosen.
            ///
            /// # Errors
            ///
            /// Any error of the system call.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.handle.get().local_addr()
            }

            /// Returns the address of the other end.
            ///
            /// # Errors
            ///
            /// If the socket is not connected.
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.handle.get().peer_addr()
            }

            /// Makes another handle of the same socket, with a descriptor of its own. What is set for one is set for both, [`close`](Self::close) excepted.
            ///
            /// # Errors
            ///
            /// If there are too many descriptors.
            pub fn try_clone(&self) -> std::io::Result<Self> {
                Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
            }

            /// Limits how long whoever reads or receives waits: after that the call fails with [`WouldBlock`](std::io::ErrorKind::WouldBlock), as on
            /// Linux with std. None is for ever. One that waits already is not concerned.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](std::io::ErrorKind::InvalidInput), if the time is zero.
            pub fn set_read_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                // The kernel is told too, for the day when it is std's.
                self.handle.get().set_read_timeout(timeout)?;
                self.handle.settings().set_timeout(crate::rt::io::Direction::Read, timeout);
                Ok(())
            }

            /// Limits how long whoever writes or sends waits, as [`set_read_timeout`](Self::set_read_timeout).
            ///
            /// # Errors
            ///
            /// As [`set_read_timeout`](Self::set_read_timeout).
            pub fn set_write_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                self.handle.get().set_write_timeout(timeout)?;
                self.handle.settings().set_timeout(crate::rt::io::Direction::Write, timeout);
                Ok(())
            }

            /// How long whoever reads or receives waits at most, as the kernel has rounded it.
            ///
            /// # Errors
            ///
            /// As the kernel has them.
            pub fn read_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                self.handle.get().read_timeout()
            }

            /// How long whoever writes or sends waits at most, as the kernel has rounded it.
            ///
            /// # Errors
            ///
            /// As the kernel has them.
            pub fn write_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                self.handle.get().write_timeout()
            }

            /// Whether calls that would have to wait fail with [`WouldBlock`](std::io::ErrorKind::WouldBlock) instead. For all clones.
            ///
            /// # Errors
            ///
            /// As the kernel has them.
            pub fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
                self.handle.get().set_nonblocking(nonblocking)?;
                self.handle.settings().set_nonblocking(nonblocking);
                Ok(())
            }

            /// The error that has happened since the last one that was returned, which is forgotten by that.
            ///
            /// # Errors
            ///
            /// As the kernel has them.
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.handle.get().take_error()
            }
        }
    };
}

pub(crate) use socket_calls;
