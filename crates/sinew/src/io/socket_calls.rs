//! Methods that all sockets except listeners share, with std's names: addresses, clones, and how
//! calls wait. Knows no kind of socket.

/// Defines the methods for a type with a `handle`.
macro_rules! socket_calls {
    ($type:ty, $address:ty) => {
        impl $type {
            /// Returns the local address, with the port that the system chose if 0 was given.
            ///
            /// # Errors
            ///
            /// Returns any error of the system call.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.handle.get().local_addr()
            }

            /// Returns the address of the peer.
            ///
            /// # Errors
            ///
            /// Returns an error if the socket is not connected.
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.handle.get().peer_addr()
            }

            /// Returns another handle to the same socket, with its own descriptor. Settings apply
            /// to both; [`close`](Self::close) closes only one.
            ///
            /// # Errors
            ///
            /// Returns an error if the process has too many descriptors.
            pub fn try_clone(&self) -> std::io::Result<Self> {
                Ok(Self { handle: self.handle.clone_of(self.handle.get().try_clone()?) })
            }

            /// Limits how long reads and receives wait. After this time they fail with
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock), as with std on Linux. `None` removes
            /// the limit. Calls that already wait keep their limit.
            ///
            /// # Errors
            ///
            /// Returns [`InvalidInput`](std::io::ErrorKind::InvalidInput) if the time is zero.
            pub fn set_read_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                // The kernel needs the value too, in case the socket becomes std's.
                self.handle.get().set_read_timeout(timeout)?;
                self.handle.settings().set_timeout(crate::rt::io::Direction::Read, timeout);
                Ok(())
            }

            /// Limits how long writes and sends wait, as
            /// [`set_read_timeout`](Self::set_read_timeout).
            ///
            /// # Errors
            ///
            /// As [`set_read_timeout`](Self::set_read_timeout).
            pub fn set_write_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                self.handle.get().set_write_timeout(timeout)?;
                self.handle.settings().set_timeout(crate::rt::io::Direction::Write, timeout);
                Ok(())
            }

            /// Returns the limit for reads and receives, as rounded by the kernel.
            ///
            /// # Errors
            ///
            /// Returns any error of the system call.
            pub fn read_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                self.handle.get().read_timeout()
            }

            /// Returns the limit for writes and sends, as rounded by the kernel.
            ///
            /// # Errors
            ///
            /// Returns any error of the system call.
            pub fn write_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                self.handle.get().write_timeout()
            }

            /// Sets whether calls fail with [`WouldBlock`](std::io::ErrorKind::WouldBlock) instead
            /// of waiting. Applies to all clones.
            ///
            /// # Errors
            ///
            /// Returns any error of the system call.
            pub fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
                self.handle.get().set_nonblocking(nonblocking)?;
                self.handle.settings().set_nonblocking(nonblocking);
                Ok(())
            }

            /// Returns and clears the pending error of the socket (`SO_ERROR`).
            ///
            /// # Errors
            ///
            /// Returns any error of the system call.
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.handle.get().take_error()
            }
        }
    };
}

pub(crate) use socket_calls;
