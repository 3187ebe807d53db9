//! The methods that all handles have that wrap a `JoinHandle`.

/// Defines the methods of a type that wraps a [`JoinHandle`](super::JoinHandle) in its field
/// `handle`, and has a function `wrap` to wrap a handle that is given back.
macro_rules! join_methods {
    () => {
        /// Returns a handle to the fiber.
        #[must_use]
        pub fn thread(&self) -> &Fiber {
            self.handle.thread()
        }

        /// Waits for the fiber to end, and returns its result.
        ///
        /// # Errors
        ///
        /// Returns the panic's payload if the fiber panicked.
        pub fn join(self) -> Result<T> {
            self.handle.join()
        }

        /// Waits for the fiber to end, but for at most `time`.
        ///
        /// # Errors
        ///
        /// Returns the handle as the error if the fiber has not ended within the time.
        pub fn join_timeout(self, time: Duration) -> std::result::Result<Result<T>, Self> {
            self.handle.join_timeout(time).map_err(Self::wrap)
        }

        /// Cancels the fiber, as [`JoinHandle::cancel`] does.
        #[track_caller]
        pub fn cancel(&self) {
            self.handle.cancel();
        }

        /// Cancels the fiber with a reason, as [`JoinHandle::cancel_with_reason`] does.
        #[track_caller]
        pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
            self.handle.cancel_with_reason(reason);
        }

        /// Waits as [`join`](Self::join) does, but returns early when the caller is cancelled or
        /// its deadline passes, as [`JoinHandle::join_cancellable`] does.
        ///
        /// # Errors
        ///
        /// Returns an error that contains the handle if the caller was cancelled, or its deadline
        /// has passed, before the fiber has ended.
        #[track_caller]
        pub fn join_cancellable(self) -> std::result::Result<Result<T>, JoinStopped<Self>> {
            self.handle.join_cancellable().map_err(|error| error.map(Self::wrap))
        }

        /// Returns whether the fiber has ended.
        #[must_use]
        pub fn is_finished(&self) -> bool {
            self.handle.is_finished()
        }
    };
}

pub(super) use join_methods;
