//! Rows that say *blocks*: no other fiber of the worker runs during the call.

use std::io::{PipeWriter, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::Claim::Blocks;
use super::Row;
use super::support::blocks;

pub(crate) const ROWS: &[Row] = &[
    ("`std::thread::sleep`", Blocks, sleeps),
    ("`join` of a `std::thread`", Blocks, joins_a_thread),
    ("`recv` of `std::sync::mpsc` or `crossbeam_channel`", Blocks, receives),
    ("a lock of std or `parking_lot` that another thread holds", Blocks, locks),
    ("`std::net`", Blocks, reads_from_a_socket),
    ("`std::fs`", Blocks, opens_a_file),
    ("`Child::wait`, `Command::output`", Blocks, waits_for_a_child),
    ("`rayon`: `join`, `install`, `par_iter`", Blocks, computes_by_rayon),
    ("`block_on` of `tokio`", Blocks, runs_a_future),
];

fn sleeps() {
    blocks(|| thread::sleep(Duration::from_millis(5)), || ());
}

fn joins_a_thread() {
    let (release, until_released) = mpsc::channel::<()>();
    let thread = thread::spawn(move || until_released.recv().is_err());
    blocks(|| thread.join(), || drop(release));
}

fn receives() {
    let (release, until_released) = mpsc::channel::<()>();
    blocks(move || until_released.recv(), || drop(release));
    let (release, until_released) = crossbeam_channel::bounded::<()>(0);
    blocks(move || until_released.recv(), || drop(release));
}

fn locks() {
    let (held, is_held) = mpsc::channel();
    let (release, until_released) = mpsc::channel::<()>();
    let lock = Arc::new((Mutex::new(()), parking_lot::Mutex::new(())));
    let other = lock.clone();
    let owner = thread::spawn(move || {
        let _both = (other.0.lock().unwrap(), other.1.lock());
        held.send(()).unwrap();
        until_released.recv().unwrap_err();
    });
    is_held.recv().unwrap();
    let wanted = lock.clone();
    blocks(
        move || {
            drop(wanted.1.lock());
            drop(wanted.0.lock());
        },
        || drop(release),
    );
    owner.join().unwrap();
}

fn reads_from_a_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    blocks(move || stream.read(&mut [0]).unwrap(), || drop(peer));
}

/// A file that takes long to open: a FIFO without a writer.
fn opens_a_file() {
    let path = std::env::temp_dir().join(format!("sinew-guide-fifo-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let other = path.clone();
    let reads = path.clone();
    blocks(
        move || std::fs::read(reads).unwrap(),
        move || drop(std::fs::OpenOptions::new().write(true).open(other).unwrap()),
    );
    std::fs::remove_file(path).unwrap();
}

/// A child that ends when its input does.
fn waits_for_a_child() {
    let (input, release): (_, PipeWriter) = pipe().unwrap();
    let mut child = Command::new("cat").stdin(input).stdout(Stdio::null()).spawn().unwrap();
    blocks(move || child.wait().unwrap(), || drop(release));
    let (input, mut release) = pipe().unwrap();
    let mut command = Command::new("cat");
    command.stdin(input);
    blocks(
        move || assert_eq!(command.output().unwrap().stdout, b"end"),
        move || release.write_all(b"end").unwrap(),
    );
}

fn computes_by_rayon() {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let (release, until_released) = crossbeam_channel::bounded::<()>(0);
    let waits = until_released.clone();
    let other = pool.clone();
    blocks(move || other.install(|| waits.recv().is_err()), || drop(release));
    let (release, until_released) = crossbeam_channel::bounded::<()>(0);
    blocks(move || pool.install(|| rayon::join(|| until_released.recv().is_err(), || ())), || drop(release));
}

fn runs_a_future() {
    let (release, until_released) = tokio::sync::oneshot::channel::<()>();
    blocks(
        || {
            let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
            executor.block_on(until_released).unwrap_err();
        },
        || drop(release),
    );
}
