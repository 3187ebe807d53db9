//! Methods that the handles of these channels share with those of `sync::mpsc`. The error types are
//! those that the caller has in scope: crossbeam-channel and std use the same names.

/// Defines the methods that receive, with the documentation that the caller gives.
macro_rules! receive_methods {
    (
        $(#[$recv_doc:meta])* recv
        $(#[$try_doc:meta])* try_recv
        $(#[$timeout_doc:meta])* recv_timeout
        $(#[$deadline_doc:meta])* recv_deadline
        $(#[$cancellable_doc:meta])* recv_cancellable
        $(#[$iter_doc:meta])* iter
        $(#[$try_iter_doc:meta])* try_iter
    ) => {
        $(#[$recv_doc])*
        #[inline]
        pub fn recv(&self) -> Result<T, RecvError> {
            self.channel.receive(Limit::NEVER).map_err(|_| RecvError)
        }

        $(#[$try_doc])*
        #[inline]
        pub fn try_recv(&self) -> Result<T, TryRecvError> {
            self.channel.try_receive().map_err(|error| match error {
                NotReceived::Closed => TryRecvError::Disconnected,
                NotReceived::TimedOut | NotReceived::Stopped(_) => TryRecvError::Empty,
            })
        }

        $(#[$timeout_doc])*
        pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
            self.recv_to(Limit::lasting(timeout))
        }

        $(#[$deadline_doc])*
        pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
            self.recv_to(Limit::until(Some(deadline)))
        }

        fn recv_to(&self, limit: Limit) -> Result<T, RecvTimeoutError> {
            self.channel.receive(limit).map_err(|error| match error {
                NotReceived::Closed => RecvTimeoutError::Disconnected,
                NotReceived::TimedOut | NotReceived::Stopped(_) => RecvTimeoutError::Timeout,
            })
        }

        $(#[$cancellable_doc])*
        #[track_caller]
        pub fn recv_cancellable(&self) -> Result<Result<T, RecvError>, Stopped> {
            match self.channel.receive(Limit::STOP) {
                Ok(message) => Ok(Ok(message)),
                Err(NotReceived::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
                Err(NotReceived::Closed | NotReceived::TimedOut) => Ok(Err(RecvError)),
            }
        }

        $(#[$iter_doc])*
        pub fn iter(&self) -> Iter<'_, T> {
            Iter::new(self)
        }

        $(#[$try_iter_doc])*
        pub fn try_iter(&self) -> TryIter<'_, T> {
            TryIter::new(self)
        }
    };
}

/// Defines the methods that send where there may be no room, with the documentation and the name of
/// the message that the caller gives.
macro_rules! send_methods {
    (
        $message:ident
        $(#[$send_doc:meta])* send
        $(#[$try_doc:meta])* try_send
        $(#[$timeout_doc:meta])* send_timeout
        $(#[$cancellable_doc:meta])* send_cancellable
    ) => {
        $(#[$send_doc])*
        #[inline]
        pub fn send(&self, $message: T) -> Result<(), SendError<T>> {
            self.channel.send($message, Limit::NEVER).map_err(|error| SendError(error.into_inner()))
        }

        $(#[$try_doc])*
        #[inline]
        pub fn try_send(&self, $message: T) -> Result<(), TrySendError<T>> {
            self.channel.try_send($message).map_err(|refused| match refused {
                SendRefused::Full(message) => TrySendError::Full(message),
                SendRefused::Closed(message) => TrySendError::Disconnected(message),
            })
        }

        $(#[$timeout_doc])*
        pub fn send_timeout(&self, $message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
            self.send_to($message, Limit::lasting(timeout))
        }

        fn send_to(&self, message: T, limit: Limit) -> Result<(), SendTimeoutError<T>> {
            self.channel.send(message, limit).map_err(|error| match error {
                NotSent::Closed(message) => SendTimeoutError::Disconnected(message),
                other => SendTimeoutError::Timeout(other.into_inner()),
            })
        }

        $(#[$cancellable_doc])*
        #[track_caller]
        pub fn send_cancellable(&self, $message: T) -> Result<(), SendCancellableError<T>> {
            let at = Location::caller();
            self.channel.send($message, Limit::STOP).map_err(|error| match error {
                NotSent::Stopped(message, stop) => SendCancellableError::Stopped(message, Stopped::new(stop, at)),
                other => SendCancellableError::Disconnected(other.into_inner()),
            })
        }
    };
}

/// Implements a sending handle, which keeps the channel open for its receivers.
macro_rules! sender_handle {
    ($handle:ident) => {
        impl<T> $handle<T> {
            pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
                Self { channel }
            }
        }

        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                self.channel.add_sender();
                Self { channel: self.channel.clone() }
            }
        }

        impl<T> Drop for $handle<T> {
            fn drop(&mut self) {
                self.channel.drop_sender();
            }
        }

        impl_debug!($handle<T>, ..);

        // A panic leaves no message half sent.
        impl_unwind_safe!($handle<T>);
    };
}

pub(crate) use {receive_methods, send_methods, sender_handle};
