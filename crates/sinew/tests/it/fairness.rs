//! Calls that find something ready give their worker away now and then.
//!
//! Each test has fibers that make such calls for as long as a neighbour of theirs sleeps. If they
//! kept their worker, the neighbour would not wake up, and the test would hang.

use super::support::{Watched, migrating, pinned};
use sinew::channel::{self, Select, broadcast, oneshot, watch};
use sinew::io::pipe;
use sinew::net::{TcpListener, TcpStream, UdpSocket};
use sinew::os::unix::net::UnixStream;
use sinew::sync::{BlockingQueue, Event, Notify, Semaphore, mpsc};
use sinew::{fiber, select, time};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// As many fibers as `greedy` has do their part over and over, until a fiber has slept that was
/// made before them.
fn neighbours_run<F>(runtime: &Watched, greedy: impl IntoIterator<Item = F>)
where
    F: FnMut() + Send + 'static,
{
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let sleeper = runtime.spawn(move || {
        for _ in 0..3 {
            fiber::sleep(Duration::from_millis(1));
        }
        ends.store(true, Ordering::Relaxed);
    });
    let fibers: Vec<_> = greedy
        .into_iter()
        .map(|mut call| {
            let is_over = is_over.clone();
            runtime.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    call();
                }
            })
        })
        .collect();
    sleeper.join().unwrap();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// With a single worker, on which fibers stay or not.
fn check<F: FnMut() + Send + 'static>(call: impl Fn() -> F) {
    for runtime in [pinned(1), migrating(1)] {
        neighbours_run(&runtime, [call()]);
    }
}

#[test]
fn whoever_sends_and_receives() {
    for capacity in [Some(1), Some(100), None] {
        check(|| {
            let (sender, receiver) = capacity.map_or_else(channel::unbounded, channel::bounded);
            move || {
                sender.send(1).unwrap();
                assert_eq!(receiver.recv(), Ok(1));
            }
        });
        check(|| {
            let (sender, receiver) = capacity.map_or_else(channel::unbounded, channel::bounded);
            move || {
                sender.send_timeout(1, Duration::MAX).unwrap();
                assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(1));
            }
        });
    }
    check(|| {
        let (sender, receiver) = mpsc::channel();
        move || {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        }
    });
    check(|| {
        let (sender, receiver) = mpsc::channel();
        move || {
            let _kept = &receiver;
            sender.send(()).unwrap();
        }
    });
}

#[test]
fn senders_to_many_and_once() {
    check(|| {
        let (sender, receiver) = broadcast::channel(2);
        move || {
            let _kept = &receiver;
            assert_eq!(sender.send(1).unwrap(), 1);
        }
    });
    check(|| {
        let sender = watch::Sender::new(0);
        move || assert_eq!(sender.send_replace(0), 0)
    });
    check(|| {
        let (sender, mut receiver) = broadcast::channel(2);
        move || {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv().unwrap(), 1);
        }
    });
    check(|| {
        || {
            let (sender, receiver) = oneshot::channel();
            sender.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        }
    });
    check(|| {
        let queue = BlockingQueue::new(2);
        move || {
            queue.push(1).unwrap();
            assert_eq!(queue.pop(), Ok(1));
        }
    });
}

/// A value that has changed, one that is right already, and an end that has come.
#[test]
fn receivers_and_senders_of_the_latest_value() {
    check(|| {
        let (sender, mut receiver) = watch::channel(0);
        move || {
            sender.send(1).unwrap();
            assert_eq!(receiver.changed(), Ok(()));
        }
    });
    check(|| {
        let (_sender, mut receiver) = watch::channel(0);
        move || drop(receiver.wait_for(|value| *value == 0).unwrap())
    });
    check(|| {
        let sender = watch::Sender::new(0);
        move || sender.closed()
    });
    check(|| {
        let sender = broadcast::Sender::<u32>::new(1);
        move || sender.closed()
    });
    check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        move || drop(semaphore.clone().acquire_owned().unwrap())
    });
}

/// A thread is always there to meet.
#[test]
fn whoever_meets_others() {
    check(|| {
        let (sender, receiver) = channel::bounded(0);
        thread::spawn(move || while receiver.recv().is_ok() {});
        move || sender.send(1).unwrap()
    });
    check(|| {
        let (sender, receiver) = channel::bounded(0);
        thread::spawn(move || while sender.send(1).is_ok() {});
        move || assert_eq!(receiver.recv(), Ok(1))
    });
}

#[test]
fn whoever_selects() {
    check(|| {
        let (sender, receiver) = channel::bounded(1);
        let never = channel::never::<i32>();
        move || {
            sender.send(1).unwrap();
            select! {
                recv(receiver) -> message => assert_eq!(message, Ok(1)),
                recv(never) -> _ => unreachable!("nothing is sent"),
            }
        }
    });
    check(|| {
        let (_sender, receiver) = channel::bounded::<()>(1);
        let (open, kept) = channel::bounded::<()>(1);
        move || {
            let _is_kept = &kept;
            let mut select = Select::new();
            select.recv(&receiver);
            select.send(&open);
            assert!(select.ready() < 2);
        }
    });
}

/// All workers are kept by senders, and more of them are ready.
#[test]
fn more_senders_than_workers() {
    for runtime in [pinned(2), migrating(2)] {
        let (sender, receiver) = channel::unbounded();
        let sending = (0..6).map(|number| {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            move || {
                sender.send(number).unwrap();
                // So that memory does not fill up.
                while receiver.len() > 1_000 && receiver.try_recv().is_ok() {}
            }
        });
        neighbours_run(&runtime, sending);
    }
}

#[test]
fn whoever_finds_permits_and_events() {
    check(|| {
        let semaphore = Semaphore::new(1);
        move || drop(semaphore.acquire().unwrap())
    });
    check(|| {
        let event = Event::manual();
        event.set();
        move || event.wait()
    });
    check(|| {
        let events = [Event::manual(), Event::manual()];
        events[1].set();
        move || assert_eq!(Event::wait_any(&[&events[0], &events[1]]), 1)
    });
    check(|| {
        let notify = Notify::new();
        move || {
            notify.notify_one();
            notify.wait();
        }
    });
}

#[test]
fn whoever_sleeps_no_time() {
    check(|| || fiber::sleep(Duration::ZERO));
    check(|| || fiber::sleep_cancellable(Duration::ZERO).unwrap());
    check(|| {
        let mut interval = time::interval(Duration::from_nanos(1));
        move || {
            interval.tick();
        }
    });
}

#[test]
fn whoever_reads_and_writes() {
    check(|| {
        let (mut one, mut other) = UnixStream::pair().unwrap();
        move || {
            one.write_all(b"ready").unwrap();
            other.read_exact(&mut [0; 5]).unwrap();
        }
    });
    check(|| {
        let (mut reader, mut writer) = pipe().unwrap();
        move || {
            writer.write_all(b"ready").unwrap();
            reader.read_exact(&mut [0; 5]).unwrap();
        }
    });
    check(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        move || {
            socket.send(b"ready").unwrap();
            assert_eq!(socket.recv(&mut [0; 5]).unwrap(), 5);
        }
    });
}

/// A thread sends more than is read.
#[test]
fn whoever_reads_what_never_ends() {
    check(|| {
        let (mut one, other) = UnixStream::pair().unwrap();
        let mut sends = std::os::unix::net::UnixStream::from(std::os::fd::OwnedFd::from(other));
        sends.set_nonblocking(false).unwrap();
        thread::spawn(move || while sends.write_all(&[1; 65_536]).is_ok() {});
        move || assert!(one.read(&mut [0; 256]).unwrap() > 0)
    });
}

#[test]
fn whoever_accepts() {
    check(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peers = Arc::new(AtomicUsize::new(0));
        move || {
            let _connected = TcpStream::connect(address).unwrap();
            listener.accept().unwrap();
            peers.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// What must not suspend goes on, and what is named `try_` never suspends.
#[test]
fn nobody_suspends_who_must_not() {
    for runtime in [pinned(1), migrating(1)] {
        runtime.run(|| {
            let (sender, receiver) = channel::bounded(1);
            let other = fiber::spawn(|| fiber::current().id());
            fiber::no_suspend(|| {
                for _ in 0..10_000 {
                    sender.send(1).unwrap();
                    assert_eq!(receiver.recv(), Ok(1));
                }
            });
            for _ in 0..10_000 {
                sender.try_send(1).unwrap();
                assert_eq!(receiver.try_recv(), Ok(1));
            }
            assert!(!other.is_finished());
            other.join().unwrap();
        });
    }
}
