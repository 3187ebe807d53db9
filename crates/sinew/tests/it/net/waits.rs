//! What ends a wait: a deadline, a cancel. And where none may be.

use super::stage::{CALLS, CONNECTS, Stage};
use super::{alone, in_few_crowds, pair};
use crate::crowd::Crowd;
use crate::support::{Random, everywhere_in, message, pinned};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

fn is_of_deadline(result: io::Result<()>) -> bool {
    let error = result.unwrap_err();
    error.kind() == ErrorKind::TimedOut && stopped(error).is_timed_out()
}

fn is_of_cancel(result: io::Result<()>) -> bool {
    let error = result.unwrap_err();
    error.kind() == ErrorKind::Other && stopped(error).is_cancelled()
}

/// It says where, as the user has it.
fn stopped(error: io::Error) -> Stopped {
    let stopped = error.downcast::<Stopped>().unwrap();
    assert!(stopped.at().file().contains("tests/it/net/"), "{}", stopped.at());
    stopped
}

fn check_deadlines(_crowd: Crowd) {
    let stage = Stage::new();
    for call in CALLS.into_iter().chain(CONNECTS) {
        let deadline = Instant::now() + Duration::from_millis(2);
        assert!(is_of_deadline(fiber::with_deadline(deadline, || call(&stage))));
        assert!(Instant::now() >= deadline);
        // It has passed before the call begins.
        assert!(is_of_deadline(fiber::with_deadline(deadline, || call(&stage))));
    }
    drop(stage.peer);
}

fn check_cancels(crowd: Crowd) {
    let stage = Arc::new(Stage::new());
    for (number, call) in CALLS.into_iter().chain(CONNECTS).enumerate() {
        let token = CancelToken::new();
        let (other, there) = (token.clone(), stage.clone());
        let member = crowd.spawn(number, move || other.run(|| call(&there)));
        if number % 3 != 0 {
            // It waits by then, mostly.
            fiber::sleep(Duration::from_millis(1));
        }
        token.cancel();
        assert!(is_of_cancel(member.join()));
        assert!(is_of_cancel(token.run(|| call(&stage))));
    }
}

/// A stopped call moves no bytes, even if it would not have to wait for them.
fn check_that_they_come_first(_crowd: Crowd) {
    let (here, there) = pair();
    { &there }.write_all(b"x").unwrap();
    let token = CancelToken::new();
    token.cancel();
    assert!(is_of_cancel(token.run(|| { &here }.read(&mut [0]).map(drop))));
    assert!(is_of_cancel(token.run(|| { &here }.write(&[0]).map(drop))));
    assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = udp.local_addr().unwrap();
    assert!(is_of_cancel(token.run(|| udp.send_to(b"x", addr).map(drop))));
}

/// Data arrives again and again, and the members that take it are stopped again and again, by
/// deadlines and by cancels: sometimes at the moment when data arrives.
fn check_moments(crowd: Crowd) {
    const MANY: u32 = 300;
    let ((here, there), udp) = (pair(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let (addr, to) = (listener.local_addr().unwrap(), udp.local_addr().unwrap());
    let (reader, mut writer) = sinew::io::pipe().unwrap();
    let taken = Arc::new(AtomicU32::new(0));
    let all: [Box<dyn Fn() -> io::Result<usize> + Send>; 4] = [
        Box::new(move || { &here }.read(&mut [0; 8])),
        Box::new(move || { &reader }.read(&mut [0; 8])),
        Box::new(move || udp.recv(&mut [0; 8])),
        Box::new(move || listener.accept().map(|_| 1)),
    ];
    let takers = all.into_iter().enumerate().map(|(number, call)| {
        let taken = taken.clone();
        crowd.spawn(number, move || take_all(MANY, number as u64, &taken, &*call))
    });
    let takers: Vec<_> = takers.collect();
    for round in 1..=MANY {
        { &there }.write_all(b"x").unwrap();
        writer.write_all(b"x").unwrap();
        { UdpSocket::bind("127.0.0.1:0").unwrap() }.send_to(b"x", to).unwrap();
        drop(TcpStream::connect(addr).unwrap());
        // No more than a few items are left, so that mostly a member waits.
        while taken.load(Ordering::Relaxed) + 8 < 4 * round {
            fiber::yield_now();
        }
    }
    takers.into_iter().for_each(|taker| taker.join());
}

/// Takes until there were `many` items, while it is stopped again and again.
fn take_all(many: u32, seed: u64, taken: &AtomicU32, call: &dyn Fn() -> io::Result<usize>) {
    let (mut random, mut count) = (Random::new(seed), 0);
    while count < many {
        let time = Duration::from_micros(random.below(100));
        let result = if random.below(2) == 0 {
            fiber::with_deadline(Instant::now() + time, call)
        } else {
            let token = CancelToken::new();
            let other = token.clone();
            let alike = if fiber::is_fiber() { Crowd::Fibers } else { Crowd::Threads };
            let canceller = alike.spawn(0, move || {
                fiber::sleep(time);
                other.cancel();
            });
            let result = token.run(call);
            canceller.join();
            result
        };
        match result {
            Ok(len) => {
                count += len as u32;
                taken.fetch_add(len as u32, Ordering::Relaxed);
            }
            Err(error) => assert!(error.downcast::<Stopped>().is_ok()),
        }
    }
    assert_eq!(count, many);
}

fn check_names(_crowd: Crowd) {
    let found: Vec<_> = "localhost:80".to_socket_addrs().unwrap().collect();
    assert!(!found.is_empty() && found.iter().all(|addr| addr.ip().is_loopback() && addr.port() == 80));
    let same: Vec<_> = ("localhost".to_owned(), 80).to_socket_addrs().unwrap().collect();
    assert_eq!(found, same);
    for strange in ["localhost", "localhost:port", ":", "", "::1:x"] {
        let (ours, std) = (strange.to_socket_addrs(), std::net::ToSocketAddrs::to_socket_addrs(strange));
        let (ours, std) = (ours.unwrap_err(), std.unwrap_err());
        assert_eq!((ours.kind(), ours.to_string()), (std.kind(), std.to_string()));
    }
    let token = CancelToken::new();
    token.cancel();
    assert!(is_of_cancel(token.run(|| "localhost:80".to_socket_addrs().map(drop))));
    assert!(is_of_cancel(token.run(|| TcpStream::connect("localhost:80").map(drop))));
    assert!(is_of_deadline(fiber::with_deadline(Instant::now(), || "localhost:80"
        .to_socket_addrs()
        .map(drop))));
    assert!(token.run(|| "127.0.0.1:80".to_socket_addrs()).is_ok(), "nothing has to be looked up");
    let later = Instant::now() + Duration::from_secs(3_600);
    assert!(fiber::with_deadline(later, || "localhost:80".to_socket_addrs()).is_ok());
}

alone! {
    fn a_deadline_ends_every_wait() {
        in_few_crowds(check_deadlines);
    }

    fn a_cancel_ends_every_wait() {
        in_few_crowds(check_cancels);
    }

    fn whoever_is_to_stop_moves_nothing() {
        in_few_crowds(check_that_they_come_first);
    }

    fn what_comes_at_the_moment_of_a_stop_is_not_lost() {
        in_few_crowds(check_moments);
    }

    fn names_are_looked_up_elsewhere() {
        in_few_crowds(check_names);
    }

    /// The end of a stream stays: no event is needed to read it once more.
    fn the_end_of_a_stream_is_read_again_without_a_wait() {
        everywhere_in(&[&[1]], || {
            let (mut here, mut peer) = pair();
            // Has the worker watch the socket.
            here.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            assert_eq!(here.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            here.set_read_timeout(None).unwrap();
            peer.write_all(b"x").unwrap();
            // There may be more, for all that this read tells.
            assert_eq!(here.read(&mut [0]).unwrap(), 1);
            peer.shutdown(Shutdown::Write).unwrap();
            fiber::no_suspend(|| {
                // Blocks the worker until the end has arrived, so that it is told of no event.
                let blocking = std::net::TcpStream::from(here.as_fd().try_clone_to_owned().unwrap());
                assert_eq!(blocking.peek(&mut [0]).unwrap(), 0);
                assert_eq!([(); 3].map(|()| here.read(&mut [0]).unwrap()), [0; 3]);
            });
        });
    }

    /// And what needs no wait is done.
    fn where_no_wait_may_be_there_is_a_panic() {
        let runtime = pinned(1);
        runtime.run(|| {
            let stage = Stage::new();
            let names = |_: &Stage| "localhost:80".to_socket_addrs().map(drop);
            for call in CALLS.into_iter().chain(CONNECTS).chain([names as fn(&Stage) -> io::Result<()>]) {
                let panic = catch_unwind(AssertUnwindSafe(|| fiber::no_suspend(|| call(&stage)))).unwrap_err();
                assert!(message(&*panic).contains("no_suspend"));
            }
            fiber::no_suspend(|| {
                // What the calls that write have left there.
                assert_eq!({ &stage.peer }.read(&mut [0]).unwrap(), 1);
                assert!("127.0.0.1:80".to_socket_addrs().is_ok());
            });
            // Nothing is left of it: others wait there as before.
            let deadline = Instant::now() + Duration::from_millis(1);
            assert!(is_of_deadline(fiber::with_deadline(deadline, || { &stage.stream }.read(&mut [0]).map(drop))));
        });
    }
}
