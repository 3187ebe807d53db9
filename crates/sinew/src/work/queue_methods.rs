//! What both kinds of queues do, written once.

/// Methods of a queue with an `owner`: what is the same but for the docs is given by the queues.
macro_rules! queue_methods {
    () => {
        /// Whether it was stopped, if only by the shutdown of its runtime.
        #[must_use]
        pub fn is_stopped(&self) -> bool {
            self.owner.is_stopped()
        }

        /// [`join`](Self::join), for at most so long. None, if that was not enough.
        ///
        /// # Panics
        ///
        /// As [`join`](Self::join).
        #[track_caller]
        pub fn join_timeout(&self, timeout: Duration) -> Option<Result<(), JoinError>> {
            self.owner.join_timeout(timeout)
        }

        /// [`join`](Self::join), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before. Inside, as [`join`](Self::join).
        ///
        /// # Panics
        ///
        /// As [`join`](Self::join).
        #[track_caller]
        pub fn join_cancellable(&self) -> Result<Result<(), JoinError>, Stopped> {
            self.owner.join_cancellable()
        }
    };
}

pub(super) use queue_methods;
