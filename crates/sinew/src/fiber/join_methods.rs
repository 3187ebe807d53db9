//! What handles do that wrap a `JoinHandle`, written once.

/// The methods of a type that wraps a [`JoinHandle`](super::JoinHandle) as its field `handle`, and
/// has `wrap` for one that is given back.
macro_rules! join_methods {
    () => {
        /// The fiber that this is about.
        #[must_use]
        pub fn thread(&self) -> &Fiber {
            self.handle.thread()
        }

        /// Waits for the fiber to end, and returns what came out of it.
        ///
        /// # Errors
        ///
        /// If the fiber panicked, with the panic's payload.
        pub fn join(self) -> Result<T> {
            self.handle.join()
        }

        /// Waits for the fiber to end for at most so long.
        ///
        /// # Errors
        ///
        /// If the time is over first: the handle is given back.
        pub fn join_timeout(self, time: Duration) -> std::result::Result<Result<T>, Self> {
            self.handle.join_timeout(time).map_err(Self::wrap)
        }

        /// Cancels the fiber, as [`JoinHandle::cancel`].
        #[track_caller]
        pub fn cancel(&self) {
            self.handle.cancel();
        }

        /// Cancels the fiber, as [`JoinHandle::cancel_with_reason`].
        #[track_caller]
        pub fn cancel_with_reason(&self, reason: impl Into<Cow<'static, str>>) {
            self.handle.cancel_with_reason(reason);
        }

        /// [`join`](Self::join), which cancellation and deadlines of the caller end, as
        /// [`JoinHandle::join_cancellable`].
        ///
        /// # Errors
        ///
        /// If the caller is to stop before the fiber has ended: the handle is given back.
        #[track_caller]
        pub fn join_cancellable(self) -> std::result::Result<Result<T>, JoinStopped<Self>> {
            self.handle.join_cancellable().map_err(|error| error.map(Self::wrap))
        }

        /// Whether the fiber has ended.
        #[must_use]
        pub fn is_finished(&self) -> bool {
            self.handle.is_finished()
        }
    };
}

pub(super) use join_methods;
