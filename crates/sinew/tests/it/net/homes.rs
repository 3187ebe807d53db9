//! Sockets that are used on one worker after the other, by several runtimes, and for longer than
//! these live.

use super::{alone, pair, until_parked};
use crate::support::{Watched, comes_true, everywhere_in, in_each, migrating, pinned, watch_test};
use sinew::fiber::{self, Builder};
use sinew::net::{TcpListener, TcpStream};
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Reads what the peer writes once the reader waits.
fn exchange(reader: &fiber::JoinHandle<u8>, peer: &TcpStream, byte: u8) {
    until_parked(reader.thread());
    { peer }.write_all(&[byte]).unwrap();
}

fn read_one(stream: &TcpStream) -> u8 {
    let mut byte = [0];
    { stream }.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Spawns a fiber that stays in this group.
fn in_group<T: Send + 'static>(
    group: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> fiber::JoinHandle<T> {
    Builder::new().group(group).group_local(true).spawn(body).unwrap()
}

/// One worker in each of two groups.
fn check_moves() {
    let (here, peer) = pair();
    let here = Arc::new(here);
    let read_in = |group: usize| {
        let here = here.clone();
        in_group(group, move || read_one(&here))
    };
    for round in 0..20 {
        // The socket moves when no fiber waits where it is at home.
        let reader = read_in(usize::from(round) % 2);
        exchange(&reader, &peer, round);
        assert_eq!(reader.join().unwrap(), round);
        // Two fibers wait at once, one of them in the other group.
        let readers = [read_in(0), read_in(1)];
        readers.iter().for_each(|reader| until_parked(reader.thread()));
        { &peer }.write_all(&[1, 2]).unwrap();
        let mut read = readers.map(|reader| reader.join().unwrap());
        read.sort_unstable();
        assert_eq!(read, [1, 2]);
    }
}

/// A listener, whose connections others take over.
fn check_handing_over() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = Builder::new().group(0).group_local(true);
    let server = server.spawn(move || {
        let serve = |(mut stream, _): (TcpStream, _)| {
            // It waits here first, and then elsewhere.
            let first = read_one(&stream);
            let rest = Builder::new().group(1).group_local(true);
            rest.spawn(move || stream.write_all(&[first, read_one(&stream)]).unwrap()).unwrap()
        };
        let servers: Vec<_> = listener.connections().take(10).map(serve).collect();
        servers.into_iter().for_each(|server| server.join().unwrap());
    });
    for _ in 0..10 {
        let mut stream = TcpStream::connect(addr).unwrap();
        for byte in [3, 4] {
            fiber::yield_now();
            stream.write_all(&[byte]).unwrap();
        }
        let mut both = [0; 2];
        stream.read_exact(&mut both).unwrap();
        assert_eq!(both, [3, 4]);
    }
    server.unwrap().join().unwrap();
}

/// One reads and then keeps its worker, where the socket is at home, until the other has written,
/// who waits on the second worker.
fn check_a_busy_home() {
    let ((here, peer), [begun, over]) = (pair(), [(); 2].map(|()| Arc::new(AtomicBool::new(false))));
    let here = Arc::new(here);
    let spin = |flag: &AtomicBool| {
        while !flag.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    let (there, is_over) = (here.clone(), over.clone());
    let reader = fiber::spawn_local(move || {
        read_one(&there);
        spin(&is_over);
    });
    until_parked(reader.thread());
    let has_begun = begun.clone();
    let writer = fiber::spawn(move || {
        begun.store(true, Ordering::Relaxed);
        { &*here }.write_all(&vec![1; 10_000_000]).unwrap();
        over.store(true, Ordering::Relaxed);
    });
    // Somewhere else than here.
    spin(&has_begun);
    until_parked(writer.thread());
    std::thread::spawn(move || {
        { &peer }.write_all(&[1]).unwrap();
        // Time for the reader to be busy; if it is not, nothing changes.
        std::thread::sleep(Duration::from_millis(2));
        { &peer }.read_exact(&mut vec![0; 10_000_000]).unwrap();
    });
    writer.join().unwrap();
    reader.join().unwrap();
}

/// The first of those who wait for a connection has to go on on a worker that is busy until the
/// second one has had it.
fn check_a_busy_waiter() {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let [begun, over] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let first = {
        let listener = listener.clone();
        fiber::spawn_local(move || listener.accept().unwrap().1)
    };
    until_parked(first.thread());
    let (there, has_begun, is_over) = (listener.clone(), begun.clone(), over.clone());
    let second = fiber::spawn(move || {
        // Whatever waits on this worker stays there.
        let second = fiber::spawn_local(move || there.accept().unwrap().1);
        until_parked(second.thread());
        has_begun.store(true, Ordering::Relaxed);
        let accepted = second.join().unwrap();
        is_over.store(true, Ordering::Relaxed);
        accepted
    });
    let spin = |flag: &AtomicBool| {
        while !flag.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    spin(&begun);
    let one = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    spin(&over);
    assert_eq!(second.join().unwrap(), one.local_addr().unwrap());
    let two = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    assert_eq!(first.join().unwrap(), two.local_addr().unwrap());
}

/// It is the first of those who wait, and never goes on; the event is for the next one. Its socket
/// is never closed.
#[test]
fn one_that_is_abandoned_takes_nothing_from_others() {
    let _watch = watch_test();
    for moves in [false, true] {
        let (mut first, second) = (if moves { migrating(1) } else { pinned(1) }, pinned(1));
        let (here, peer) = pair();
        let here = Arc::new(here);
        let (there, elsewhere) = (here.clone(), here);
        // It is at home there from the first wait on, and is first in line only for that.
        let two = second.spawn(move || [read_one(&elsewhere), read_one(&elsewhere)]);
        until_parked(two.thread());
        let one = first.spawn(move || read_one(&there));
        until_parked(one.thread());
        { &peer }.write_all(&[1]).unwrap();
        // Time to wait again; if it does not yet, nothing changes.
        std::thread::sleep(Duration::from_millis(2));
        drop(first.take().shutdown(Some(Duration::ZERO)));
        // It may have tried just when there was something, before it waited: then the other one has
        // to have one more.
        let has_read = one.join().is_ok();
        { &peer }.write_all(if has_read { &[2, 3] } else { &[2] }).unwrap();
        assert_eq!(two.join().unwrap(), if has_read { [2, 3] } else { [1, 2] });
    }
}

alone! {
    fn a_busy_home_keeps_nobody_waiting_elsewhere() {
        everywhere_in(&[&[2]], check_a_busy_home);
    }

    fn one_who_cannot_go_on_keeps_no_connection_from_others() {
        let _watch = watch_test();
        // Those who may move go on anywhere.
        pinned(2).run(check_a_busy_waiter);
    }

    fn a_socket_follows_those_who_wait() {
        everywhere_in(&[&[1, 1]], check_moves);
    }

    /// The socket is registered at the worker of the first group, which is busy from then on. No
    /// worker polls the descriptors of another group, so only a registration at the reader's own
    /// worker wakes the reader.
    fn a_socket_is_registered_anew_where_its_only_waiter_is() {
        in_each(&[&[1, 1]], |runtime| {
            let runtime = Watched::new(runtime);
            let (here, peer) = pair();
            let here = Arc::new(here);
            let there = here.clone();
            let first = runtime.run(move || in_group(0, move || read_one(&there)));
            exchange(&first, &peer, 1);
            assert_eq!(first.join().unwrap(), 1);
            let [is_busy, is_over] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
            let (begins, ends) = (is_busy.clone(), is_over.clone());
            let (busy, second) = runtime.run(move || {
                let busy = in_group(0, move || {
                    begins.store(true, Ordering::Release);
                    while !ends.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
                let second = in_group(1, move || {
                    while !is_busy.load(Ordering::Acquire) {
                        fiber::yield_now();
                    }
                    read_one(&here)
                });
                (busy, second)
            });
            exchange(&second, &peer, 2);
            let is_read = comes_true(|| second.is_finished());
            is_over.store(true, Ordering::Release);
            assert_eq!((is_read, second.join().unwrap()), (true, 2));
            busy.join().unwrap();
        });
    }

    fn a_socket_is_handed_over() {
        everywhere_in(&[&[1, 1]], check_handing_over);
    }

    fn a_socket_outlives_its_runtimes() {
        let _watch = watch_test();
        let (here, peer) = pair();
        let here = Arc::new(here);
        for round in 0..6 {
            let runtime = if round % 2 == 0 { pinned(1) } else { migrating(2) };
            let there = here.clone();
            let reader = runtime.spawn(move || read_one(&there));
            exchange(&reader, &peer, round);
            assert_eq!(reader.join().unwrap(), round);
            drop(runtime);
            { &peer }.write_all(&[100]).unwrap();
            assert_eq!(read_one(&here), 100, "from a plain thread");
        }
    }

    /// A fiber of each runtime waits. The one of the first runtime, where the socket is at home, is
    /// cancelled, and that runtime ends. The other fiber is woken by its data all the same.
    fn one_that_waits_is_told_of_the_end_of_anothers_runtime() {
        let _watch = watch_test();
        for round in 0..10 {
            let (first, second) = (pinned(1), if round % 2 == 0 { pinned(1) } else { migrating(2) });
            let (here, peer) = pair();
            let here = Arc::new(here);
            let (there, elsewhere) = (here.clone(), here);
            let one = first.spawn(move || { &*there }.read(&mut [0]).unwrap_err());
            until_parked(one.thread());
            let two = second.spawn(move || read_one(&elsewhere));
            until_parked(two.thread());
            one.cancel();
            assert_eq!(one.join().unwrap().kind(), ErrorKind::Other);
            drop(first);
            { &peer }.write_all(&[2]).unwrap();
            assert_eq!(two.join().unwrap(), 2);
        }
    }

    fn a_plain_thread_and_a_fiber_wait_for_one() {
        let _watch = watch_test();
        let runtime = pinned(1);
        let (here, peer) = pair();
        let here = Arc::new(here);
        for _ in 0..20 {
            let (one, two) = (here.clone(), here.clone());
            let fiber = runtime.spawn(move || read_one(&one));
            let thread = std::thread::spawn(move || read_one(&two));
            until_parked(fiber.thread());
            { &peer }.write_all(&[1]).unwrap();
            { &peer }.write_all(&[2]).unwrap();
            assert_eq!(fiber.join().unwrap() + thread.join().unwrap(), 3);
        }
    }
}
