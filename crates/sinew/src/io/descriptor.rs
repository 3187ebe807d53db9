//! Conversions of types with a `handle`. Knows no kind of descriptor.

/// Implements the conversions from and to std's type of the same name by these expressions, and the
/// other conversions by means of these.
macro_rules! descriptor {
    ($type:ident, $std:ty, |$given:ident| $ours:expr, |$this:ident| $theirs:expr) => {
        /// Keeps the time-outs and the non-blocking mode that are set.
        impl From<$std> for $type {
            fn from($given: $std) -> Self {
                $ours
            }
        }

        /// Keeps all settings.
        impl From<$type> for $std {
            fn from($this: $type) -> Self {
                $theirs
            }
        }

        impl From<std::os::fd::OwnedFd> for $type {
            fn from(fd: std::os::fd::OwnedFd) -> Self {
                <$std>::from(fd).into()
            }
        }

        impl From<$type> for std::os::fd::OwnedFd {
            fn from(this: $type) -> Self {
                <$std>::from(this).into()
            }
        }

        impl std::os::fd::IntoRawFd for $type {
            fn into_raw_fd(self) -> std::os::fd::RawFd {
                <$std>::from(self).into_raw_fd()
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.handle.get().as_raw_fd()
            }
        }

        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.handle.as_fd()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.handle.get().fmt(f)
            }
        }
    };
}

pub(crate) use descriptor;
