//! Keeps the messages of expected panics out of the output of the tests.
//!
//! The threads of a pool do not inherit the output capture of libtest. Each panic on them is
//! printed, and a real failure drowns among the panics that tests cause on purpose. A test that
//! only needs a panic raises it with `resume_unwind`, which calls no panic hook. A test that needs
//! a panic of the product, or `panic!` itself, passes a part of its message to [`mute`].
//!
//! The hook cannot tell which test a panic belongs to, because it may happen on any thread. Only
//! the message decides. Pass a text that is in no message of an unexpected panic.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The texts of all live [`Muted`] guards.
static TEXTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Keeps a text muted until it is dropped.
#[must_use = "panics are muted until this is dropped"]
pub(crate) struct Muted(&'static str);

/// Mutes the panics of all threads whose message contains `text`. Every other panic reaches the
/// hook that was installed before the first call.
pub(crate) fn mute(text: &'static str) -> Muted {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let inner = take_hook();
        set_hook(Box::new(move |info| {
            if !is_muted(info) {
                inner(info);
            }
        }));
    });
    texts().push(text);
    Muted(text)
}

impl Drop for Muted {
    fn drop(&mut self) {
        let mut texts = texts();
        let own = texts.iter().position(|text| *text == self.0);
        own.map(|own| texts.swap_remove(own));
    }
}

fn is_muted(info: &PanicHookInfo<'_>) -> bool {
    info.payload_as_str().is_some_and(|message| texts().iter().any(|text| message.contains(text)))
}

/// Locks the list. Does not panic, because a panic in a panic hook aborts the process.
fn texts() -> MutexGuard<'static, Vec<&'static str>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}
