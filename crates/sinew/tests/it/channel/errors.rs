//! What errors say of themselves.

use super::as_crossbeam;
use std::error::Error;

fn text<E: Error + Send + 'static>(error: E) -> String {
    format!("{error:?}: {error} {error:>60}")
}

#[test]
fn all_errors_speak_as_crossbeams() {
    macro_rules! all {
        ($channel:ident) => {{
            use super::$channel::{
                ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
                SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
            };
            [
                text(SendError(1)),
                text(TrySendError::Full(1)),
                text(TrySendError::Disconnected(1)),
                text(SendTimeoutError::Timeout(1)),
                text(SendTimeoutError::Disconnected(1)),
                text(RecvError),
                text(TryRecvError::Empty),
                text(TryRecvError::Disconnected),
                text(RecvTimeoutError::Timeout),
                text(RecvTimeoutError::Disconnected),
                text(TrySelectError),
                text(SelectTimeoutError),
                // Crossbeam has forgotten to make these two errors.
                format!("{TryReadyError:?}"),
                format!("{ReadyTimeoutError:?}"),
                text(TrySendError::from(SendError(1))),
                text(SendTimeoutError::from(SendError(1))),
                text(TryRecvError::from(RecvError)),
                text(RecvTimeoutError::from(RecvError)),
            ]
        }};
    }
    // Theirs are in quotation marks where they do not show the message, which std's are not.
    assert_eq!(all!(ours), all!(theirs).map(|text| text.replace('"', "")));
}

as_crossbeam! {
    fn errors_give_messages_back_and_say_what_they_are(_crowd) {
        use channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
        assert_eq!(SendError("a").into_inner(), "a");
        assert_eq!(TrySendError::Full("b").into_inner(), "b");
        assert_eq!(TrySendError::Disconnected("c").into_inner(), "c");
        assert_eq!(SendTimeoutError::Timeout("d").into_inner(), "d");
        assert_eq!(SendTimeoutError::Disconnected("e").into_inner(), "e");
        assert!(TrySendError::Full(1).is_full() && !TrySendError::Full(1).is_disconnected());
        assert!(!TrySendError::Disconnected(1).is_full() && TrySendError::Disconnected(1).is_disconnected());
        assert!(SendTimeoutError::Timeout(1).is_timeout() && !SendTimeoutError::Timeout(1).is_disconnected());
        assert!(!SendTimeoutError::Disconnected(1).is_timeout() && SendTimeoutError::Disconnected(1).is_disconnected());
        assert!(TryRecvError::Empty.is_empty() && !TryRecvError::Empty.is_disconnected());
        assert!(!TryRecvError::Disconnected.is_empty() && TryRecvError::Disconnected.is_disconnected());
        assert!(RecvTimeoutError::Timeout.is_timeout() && !RecvTimeoutError::Timeout.is_disconnected());
        assert!(!RecvTimeoutError::Disconnected.is_timeout() && RecvTimeoutError::Disconnected.is_disconnected());
        assert_eq!(TrySendError::from(SendError(1)), TrySendError::Disconnected(1));
        assert_eq!(SendTimeoutError::from(SendError(1)), SendTimeoutError::Disconnected(1));
        assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
        assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Disconnected);
        // They are as easy to copy as what is in them.
        let error = SendError(1);
        let copy = error;
        assert_eq!(copy, error);
    }
}

/// What crossbeam does not have.
#[test]
fn an_error_that_stops_says_why() {
    use sinew::channel::{SendCancellableError, bounded};
    let (sender, receiver) = bounded(1);
    drop(receiver);
    let error: SendCancellableError<i32> = sender.send_cancellable(1).unwrap_err();
    assert_eq!(
        (format!("{error:?}"), error.to_string()),
        ("Disconnected(..)".into(), "sending on a disconnected channel".into())
    );
    assert!(error.source().is_none() && error.clone().into_inner() == 1);
    assert!(error.is_disconnected() && !error.is_stopped());
    assert!(SendCancellableError::from(sinew::channel::SendError(1)).is_disconnected());
    let others = [text(sinew::channel::TryReadyError), text(sinew::channel::ReadyTimeoutError)];
    assert!(others[0].contains("ready") && others[1].contains("timed out"));
}
