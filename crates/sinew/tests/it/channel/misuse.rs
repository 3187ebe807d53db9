//! What is wrong with a program is told where it is wrong, not where that was found out.

use super::super::support::{in_child, stderr};
use sinew::channel::{Select, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Where the last panic was.
static LAST: Mutex<Option<(String, u32)>> = Mutex::new(None);

/// That this panics, and says that it is here.
macro_rules! is_told_here {
    ($body:expr) => {
        assert!(catch_unwind(AssertUnwindSafe(|| _ = $body)).is_err());
        // Apart, since the hook wants the lock if these differ.
        let told = LAST.lock().unwrap().take();
        assert_eq!(told, Some((file!().to_owned(), line!())));
    };
}

/// In a process of its own, which all panics are of.
#[test]
fn misuse_is_told_where_it_is() {
    let output = in_child("channel::misuse::misuse_is_told_where_it_is", || {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let at = panic.location().map(|at| (at.file().to_owned(), at.line()));
            *LAST.lock().unwrap() = at;
            before(panic);
        }));
        is_told_here!(Select::new().select());
        is_told_here!(Select::new().ready());
        is_told_here!(Select::new().select_cancellable());
        let (sender, receiver) = bounded(2);
        let copies = (sender.clone(), receiver.clone());
        let mut select = Select::new();
        is_told_here!(select.remove(0));
        let index = select.send(&sender);
        select.remove(index);
        is_told_here!(select.remove(index));
        select.send(&sender);
        let operation = select.select();
        is_told_here!(operation.send(&copies.0, 1));
        sender.send(1).unwrap();
        let mut select = Select::new();
        select.recv(&receiver);
        let operation = select.select();
        is_told_here!(operation.recv(&copies.1));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
