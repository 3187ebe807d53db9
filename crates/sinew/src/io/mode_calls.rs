//! What sockets of all kinds have to set how their calls wait: std's names. Knows no kind of socket.

/// The calls, for a type with a `handle`.
macro_rules! mode_calls {
    ($type:ty) => {
        impl $type {
            /// Limits how long whoever reads or receives waits: after that the call fails with [`WouldBlock`](std::io::ErrorKind::WouldBlock), as on
            /// Linux with std. None is for ever. One that waits already is not concerned.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](std::io::ErrorKind::InvalidInput), if the time is zero.
            pub fn set_read_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                // The kernel is told too, for the day when it is std's.
                self.handle.get().set_read_timeout(timeout)?;
                self.handle.modes().set_timeout(crate::rt::io::Direction::Read, timeout);
                Ok(())
            }

            /// Limits how long whoever writes or sends waits, as [`set_read_timeout`](Self::set_read_timeout).
            ///
            /// # Errors
            ///
            /// As [`set_read_timeout`](Self::set_read_timeout).
            pub fn set_write_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                self.handle.get().set_write_timeout(timeout)?;
                self.handle.modes().set_timeout(crate::rt::io::Direction::Write, timeout);
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
                self.handle.modes().set_nonblocking(nonblocking);
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

pub(crate) use mode_calls;
