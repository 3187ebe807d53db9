//! Signals from channels. Each test that sends one has a process of its own, and sends it to that.

mod actions;
mod arrive;
mod numbers;
mod process;
mod quit;

use super::crowd::{Crowd, in_crowds};
use super::support::{in_child, is_child, stderr};
use sinew::fiber;
use std::fs;
use std::sync::Arc;
use std::thread;

/// Runs `body` in a process of its own. Of all threads and descriptors, those of the channels alone
/// are left.
fn alone(name: &str, body: impl FnOnce()) {
    let output = in_child(&format!("signal::{name}"), || {
        let before = (descriptors().len(), threads().len());
        body();
        // A thread that was joined may still be seen for a moment, and one that was started may not
        // have its name yet.
        let ours = |(name, _): &(String, char)| name == "sinew-signals";
        while threads().len() != before.1 + 1 || threads().iter().filter(|thread| ours(thread)).count() != 1 {
            thread::yield_now();
        }
        assert_eq!(descriptors().len(), before.0 + 1);
    });
    assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
}

/// The same with fibers in all kinds of runtimes, with threads, and with both.
fn alone_in_crowds(name: &str, body: impl Fn(Crowd) + Send + Sync + 'static) {
    let body = Arc::new(body);
    alone(name, || in_crowds(move |crowd| body(crowd)));
}

/// What the open descriptors are.
fn descriptors() -> Vec<String> {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let target = |entry: fs::DirEntry| fs::read_link(entry.path()).unwrap_or_default();
    entries.map(|entry| target(entry.unwrap()).to_string_lossy().into_owned()).collect()
}

/// The threads: their names, and what they do.
fn threads() -> Vec<(String, char)> {
    let entries = fs::read_dir("/proc/self/task").unwrap();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("stat")).ok());
    let parse = |stat: String| {
        let (begin, rest) = stat.rsplit_once(") ").unwrap();
        (begin.split_once('(').unwrap().1.to_owned(), rest.chars().next().unwrap())
    };
    stats.map(parse).collect()
}

/// Lets others go on, whatever the caller is.
fn give_way() {
    if fiber::is_fiber() { fiber::yield_now() } else { thread::yield_now() }
}

/// Ends this process by `body`. Returns the signal that it was killed by.
fn killed(name: &str, body: impl FnOnce()) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    let output = in_child(&format!("signal::{name}"), body);
    assert!(!is_child());
    output.status.signal()
}
