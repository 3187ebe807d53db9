//! Copies that the kernel makes.
//!
//! # Safety
//!
//! Options of sockets that no crate offers are set by pointers to a local integer.
#![expect(unsafe_code, reason = "an option of sockets is set")]

use super::super::descriptors::{in_own_process, is_deadline};
use super::super::support::{everywhere, is_emulated, pinned, until, watch_test};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use sinew::fiber;
use sinew::fs::File;
use sinew::io::{self, KernelSink, KernelSource, Read, Seek, Write};
use sinew::net::{TcpListener, TcpStream};
use sinew::os::unix::net::UnixStream;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// More than pipes and sockets take at once.
const MUCH: usize = 1 << 20;

fn bytes() -> Vec<u8> {
    (0..MUCH).map(|at| (at % 251) as u8).collect()
}

fn file() -> File {
    std::fs::File::from(memfd_create("kernel-copy", MemfdFlags::CLOEXEC).unwrap()).into()
}

fn full_file() -> File {
    let mut file = file();
    file.write_all(&bytes()).and_then(|()| file.rewind()).unwrap();
    file
}

fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connects = fiber::spawn({
        let address = listener.local_addr().unwrap();
        move || TcpStream::connect(address).unwrap()
    });
    (listener.accept().unwrap().0, connects.join().unwrap())
}

/// Copies from something that another fiber writes to, and checks that calls on both ends block
/// again.
fn copies<S, D>(source: S, sink: D) -> D
where
    S: KernelSource + AsFd,
    D: KernelSink + AsFd,
{
    let flags = || (fcntl_getfl(&source).unwrap(), fcntl_getfl(&sink).unwrap());
    let before = flags();
    assert_eq!(io::kernel_copy(&source, &sink).unwrap(), MUCH as u64);
    assert_eq!(flags(), before);
    sink
}

/// Calls `copy` with the reading end of each kind, which gets all bytes and then its end.
fn from_each(copy: impl Fn(Source) + Send + Sync) {
    let writes =
        |mut writer: Box<dyn Write + Send>| fiber::spawn(move || writer.write_all(&bytes()).unwrap());
    copy(Source::File(full_file()));
    let (reader, writer) = io::pipe().unwrap();
    let written = writes(Box::new(writer));
    copy(Source::Pipe(reader));
    written.join().unwrap();
    let (reader, writer) = UnixStream::pair().unwrap();
    let written = writes(Box::new(writer));
    copy(Source::Unix(reader));
    written.join().unwrap();
    let (reader, writer) = tcp();
    let written = writes(Box::new(writer));
    copy(Source::Tcp(reader));
    written.join().unwrap();
}

enum Source {
    File(File),
    Pipe(io::PipeReader),
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Source {
    fn copies_to<D: KernelSink + AsFd>(self, sink: D) -> D {
        match self {
            Self::File(source) => copies(source, sink),
            Self::Pipe(source) => copies(source, sink),
            Self::Unix(source) => copies(source, sink),
            Self::Tcp(source) => copies(source, sink),
        }
    }
}

/// All that is read, by another fiber.
fn reads(mut reader: impl Read + Send + 'static) -> fiber::JoinHandle<Vec<u8>> {
    fiber::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        all
    })
}

fn all_pairs() {
    from_each(|source| {
        let mut sink = source.copies_to(file());
        let mut all = Vec::new();
        sink.rewind().and_then(|()| sink.read_to_end(&mut all)).unwrap();
        assert!(all == bytes());
    });
    from_each(|source| {
        let (reader, writer) = io::pipe().unwrap();
        let all = reads(reader);
        drop(source.copies_to(writer));
        assert!(all.join().unwrap() == bytes());
    });
    from_each(|source| {
        let (reader, writer) = UnixStream::pair().unwrap();
        let all = reads(reader);
        drop(source.copies_to(writer));
        assert!(all.join().unwrap() == bytes());
    });
    from_each(|source| {
        let (reader, writer) = tcp();
        let all = reads(reader);
        drop(source.copies_to(writer));
        assert!(all.join().unwrap() == bytes());
    });
}

#[test]
fn all_is_copied_between_all_kinds() {
    in_own_process(module_path!(), "all_is_copied_between_all_kinds", || {
        everywhere(all_pairs);
        all_pairs();
    });
}

/// What the kernel refuses is copied all the same.
#[test]
fn there_is_a_way_where_the_kernel_has_none() {
    let _watch = watch_test();
    pinned(1).run(|| {
        let (sink, made_up) = (file(), File::open("/proc/self/maps").unwrap());
        assert!(io::kernel_copy(&made_up, &sink).unwrap() > 0);
        // To a file that is open for appending.
        for pipes in [false, true] {
            let mut sink = file();
            fcntl_setfl(&sink, OFlags::APPEND).unwrap();
            match pipes {
                false => assert_eq!(io::kernel_copy(&full_file(), &sink).unwrap(), MUCH as u64),
                true => {
                    let (reader, mut writer) = io::pipe().unwrap();
                    let written = fiber::spawn(move || writer.write_all(&bytes()).unwrap());
                    assert_eq!(io::kernel_copy(&reader, &sink).unwrap(), MUCH as u64);
                    written.join().unwrap();
                }
            }
            let mut all = Vec::new();
            sink.rewind().and_then(|()| sink.read_to_end(&mut all)).unwrap();
            assert!(all == bytes());
        }
    });
}

/// No peer reads from the sink, or writes to the source.
#[test]
fn waits_can_be_stopped() {
    fn stops(source: &impl KernelSource, sink: &impl KernelSink) {
        let soon = Instant::now() + Duration::from_millis(5);
        let error = fiber::with_deadline(soon, || io::kernel_copy(source, sink)).unwrap_err();
        assert!(is_deadline(&error), "{error}");
    }

    fn check() {
        let (kept, socket) = UnixStream::pair().unwrap();
        let big = file();
        big.set_len(64 << 20).unwrap();
        stops(&big, &socket);
        let (quiet, writer) = io::pipe().unwrap();
        stops(&big, &writer);
        // The pipe is full, and so is the socket.
        stops(&quiet, &socket);
        stops(&big, &socket);
        let (empty, _writer) = io::pipe().unwrap();
        stops(&empty, &file());
        stops(&empty, &writer);
        stops(&socket, &writer);
        drop(kept);
    }

    let _watch = watch_test();
    everywhere(check);
    check();
}

/// A pipe as a `File` is no regular file. If it is full and must not block, that is an error, and
/// nothing is left out before it.
#[test]
fn a_file_that_is_full_is_an_error() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl_setfl(&writer, fcntl_getfl(&writer).unwrap() | OFlags::NONBLOCK).unwrap();
    let sink = File::from(std::fs::File::from(std::os::fd::OwnedFd::from(writer)));
    let error = io::kernel_copy(&full_file(), &sink).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(sink);
    let mut taken = Vec::new();
    reader.read_to_end(&mut taken).unwrap();
    assert!(!taken.is_empty() && bytes().starts_with(&taken), "{}", taken.len());
}

/// Sends a byte without copying it, so that the socket's error queue has the kernel's message about
/// that.
fn fill_error_queue(socket: &TcpStream, peer: &mut TcpStream) {
    let (fd, yes) = (socket.as_raw_fd(), 1_i32);
    // SAFETY: this file's.
    let set =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, (&raw const yes).cast(), 4) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: it sends one byte of a constant.
    let sent = unsafe { libc::send(fd, b"x".as_ptr().cast(), 1, libc::MSG_ZEROCOPY) };
    assert_eq!(sent, 1, "{}", std::io::Error::last_os_error());
    peer.read_exact(&mut [0]).unwrap();
    let is_there = || {
        let mut asked = [PollFd::new(socket, PollFlags::empty())];
        poll(&mut asked, Some(&Timespec::default())).unwrap();
        asked[0].revents() == PollFlags::ERR
    };
    until(is_there, || "no message in the error queue".to_owned());
}

#[test]
fn messages_in_an_error_queue_do_not_end_the_wait_for_bytes() {
    if is_emulated() {
        // The emulator does not know the option.
        return;
    }
    let _watch = watch_test();
    let runtime = pinned(1);
    let (source, mut peer) = runtime.run(tcp);
    fill_error_queue(&source, &mut peer);
    let (mut reader, writer) = io::pipe().unwrap();
    let copies = runtime.spawn(move || io::kernel_copy(&source, &writer).unwrap());
    // Not if it asks again and again.
    until(|| runtime.stats().parked == 1, || "it does not wait".to_owned());
    peer.write_all(b"some").unwrap();
    drop(peer);
    assert_eq!(copies.join().unwrap(), 4);
    let mut got = Vec::new();
    reader.read_to_end(&mut got).unwrap();
    assert_eq!(got, b"some");
}
