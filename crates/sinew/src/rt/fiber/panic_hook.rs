//! The panic hook: it prints which fiber panicked, and then calls the previous hook.

use std::io::{Write, stderr};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;

use crate::rt::wait::{FiberRef, tls};

static INSTALLED: Once = Once::new();

/// Wraps the present hook, once in a process, if that is wanted.
pub(crate) fn install(is_wanted: bool) {
    // A thread that unwinds cannot change the hook. The next runtime will.
    if !is_wanted || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let inner = take_hook();
        set_hook(Box::new(move |info| tell(info, &*inner)));
    });
}

fn tell(info: &PanicHookInfo<'_>, inner: &dyn Fn(&PanicHookInfo<'_>)) {
    if let Some(fiber) = FiberRef::running() {
        let number = fiber.number();
        let named = match fiber.name() {
            Some(name) => format!("'{name}' ({number})"),
            None => number.to_string(),
        };
        // A backtrace ends at the worker, and does not show the call that spawned the fiber.
        let made = fiber.birth().map(|birth| format!(", made at {},", birth.location)).unwrap_or_default();
        // `eprintln!` panics if standard error is closed, which would abort the process inside a
        // hook.
        let _ = writeln!(stderr(), "\nfiber {named}{made} panicked:");
    }
    match tls::worker_local() {
        // Waits inside the hook keep the worker: another fiber would be taken for panicking.
        Some(local) => local.in_hook(|| inner(info)),
        None => inner(info),
    }
}
