//! Methods that both kinds of queues share.

/// Defines the methods of a queue with an `owner` whose documentation is the same for both kinds.
macro_rules! queue_methods {
    () => {
        /// Returns whether the queue was stopped, by a call or by the shutdown of its runtime.
        #[must_use]
        pub fn is_stopped(&self) -> bool {
            self.owner.is_stopped()
        }

        /// Waits like [`join`](Self::join), and returns `None` if the queue has not ended after
        /// `timeout`.
        ///
        /// # Panics
        ///
        /// Panics as [`join`](Self::join) does.
        #[track_caller]
        pub fn join_timeout(&self, timeout: Duration) -> Option<Result<(), JoinError>> {
            self.owner.join_timeout(timeout)
        }

        /// Waits like [`join`](Self::join), and gives up when [cancellation or a
        /// deadline](crate::fiber#stopping) stops the caller.
        ///
        /// # Errors
        ///
        /// Returns the outer error if the caller is stopped before. The inner error is that of
        /// [`join`](Self::join).
        ///
        /// # Panics
        ///
        /// Panics as [`join`](Self::join) does.
        #[track_caller]
        pub fn join_cancellable(&self) -> Result<Result<(), JoinError>, Stopped> {
            self.owner.join_cancellable()
        }
    };
}

pub(super) use queue_methods;
