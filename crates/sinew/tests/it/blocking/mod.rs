//! Calls that block: by other threads, and in place.

mod calls;
mod in_place;
mod shutdown;
mod stopping;
mod threads;

use std::sync::mpsc::{self, Receiver, Sender};

/// How many threads of this process have names that begin like this: 15 characters are known.
fn threads_named(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with(prefix)).count()
}

/// A call that says that it has begun, and returns when it is told to.
struct Held {
    begun: Receiver<()>,
    release: Sender<()>,
}

impl Held {
    /// What makes the call is the second.
    fn new() -> (Self, impl FnOnce() + Send + 'static) {
        let ((begins, begun), (release, released)) = (mpsc::channel(), mpsc::channel());
        let call = move || {
            begins.send(()).unwrap();
            released.recv().unwrap();
        };
        (Self { begun, release }, call)
    }

    fn wait_until_begun(&self) {
        self.begun.recv().unwrap();
    }

    fn release(self) {
        self.release.send(()).unwrap();
    }
}
