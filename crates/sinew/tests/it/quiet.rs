//! What `support::mute` promises: an expected panic is not printed, and every other one is.

use std::thread;

use super::support::{in_child, mute, stderr};
use sinew::fiber;

/// Panics with `text` on a fiber, and on a plain thread.
fn panic_twice(text: &'static str) {
    let named = fiber::Builder::new().name("weft".to_owned());
    let on_fiber: fiber::JoinHandle<()> = named.spawn(move || panic!("{text}")).unwrap();
    on_fiber.join().unwrap_err();
    let on_thread: thread::JoinHandle<()> = thread::spawn(move || panic!("{text}"));
    on_thread.join().unwrap_err();
}

#[test]
fn only_panics_with_a_muted_text_are_not_printed() {
    let output = in_child("quiet::only_panics_with_a_muted_text_are_not_printed", || {
        // Before there is a runtime, whose hook names the fiber.
        let guards = [mute("a knot"), mute("a knot"), mute("a tangle")];
        panic_twice("muted: a knot");
        panic_twice("printed: a loop");
        let [first, second, other] = guards;
        drop(first);
        panic_twice("muted by the second guard: a knot");
        drop(second);
        panic_twice("printed: a knot");
        panic_twice("muted: a tangle");
        drop(other);
        panic_twice("printed: a tangle");
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("muted"), "{text}");
    for words in ["printed: a loop", "printed: a knot", "printed: a tangle"] {
        assert_eq!(text.matches(words).count(), 2, "{words}: {text}");
    }
    assert_eq!(text.matches("fiber 'weft'").count(), 3, "{text}");
    assert_eq!(text.matches(&format!("panicked at {}", file!())).count(), 6, "{text}");
}
