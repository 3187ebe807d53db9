//! Any descriptor.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alone, is_cancel, is_deadline, until_waiting};
use super::super::support::{everywhere, pinned, watch_test};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, socketpair};
use rustix::stdio::dup2_stdin;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use sinew::fiber::CancelToken;
use sinew::io::Fd;
use sinew::sync::Mutex;
use sinew::{fiber, time};
use socket2::SockRef;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Something to wait for.
type Wait = fn(&Fd<OwnedFd>) -> io::Result<()>;

fn event() -> Fd<OwnedFd> {
    Fd::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap()).unwrap()
}

/// Takes the count, waiting until there is one.
fn take(event: &Fd<OwnedFd>) -> io::Result<u64> {
    event.read_with(|fd| {
        let mut count = [0; 8];
        rustix::io::read(fd, &mut count)?;
        Ok(u64::from_ne_bytes(count))
    })
}

fn add(event: &Fd<OwnedFd>, count: u64) -> io::Result<()> {
    event.write_with(|fd| Ok(rustix::io::write(fd, &count.to_ne_bytes()).map(drop)?))
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

alone! {
    fn what_is_always_ready_is_refused() {
        for path in ["/proc/self/exe", "/", "/dev/null"] {
            let error = Fd::new(File::open(path).unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{path}");
            assert!(error.to_string().contains("sinew::blocking"), "{error}");
            let mut refused = Fd::try_new(File::open(path).unwrap()).unwrap_err();
            assert!(!is_nonblocking(&refused.inner) && refused.to_string() == error.to_string());
            assert_eq!(refused.inner.read(&mut [0]).is_ok(), path != "/", "it comes back as it was");
        }
    }

    /// One adds more than there is room for, another one does not; one waits for errors, another
    /// one for data.
    fn what_one_cannot_do_another_one_can() {
        in_crowds(|crowd| {
            let event = Arc::new(event());
            add(&event, u64::MAX - 5).unwrap();
            let one = event.clone();
            let waits = crowd.spawn(1, move || add(&one, 10).unwrap());
            until_waiting(&waits);
            add(&event, 2).unwrap();
            assert_eq!(take(&event).unwrap(), u64::MAX - 3);
            waits.join();
            assert_eq!(take(&event).unwrap(), 10);

            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let (address, other) = (socket.local_addr().unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
            let socket = Arc::new(Fd::new(socket).unwrap());
            let receive = |socket: &Fd<UdpSocket>, flags| {
                socket.read_with(|socket| Ok(rustix::net::recv(socket, &mut [0; 8], flags)?.0))
            };
            let (one, two) = (socket.clone(), socket.clone());
            let token = CancelToken::new();
            let until = token.clone();
            let errors = crowd.spawn(1, move || until.run(|| receive(&one, RecvFlags::ERRQUEUE)).unwrap_err());
            until_waiting(&errors);
            let data = crowd.spawn(2, move || receive(&two, RecvFlags::empty()).unwrap());
            until_waiting(&data);
            other.send_to(b"data", address).unwrap();
            assert_eq!(data.join(), 4);
            other.send_to(b"more", address).unwrap();
            socket.readable().unwrap();
            let soon = Instant::now() + Duration::from_millis(1);
            let late = fiber::with_deadline(soon, || receive(&socket, RecvFlags::ERRQUEUE)).unwrap_err();
            assert!(is_deadline(&late));
            socket.readable().unwrap();
            assert_eq!(socket.get_ref().recv(&mut [0; 8]).unwrap(), 4);
            token.cancel();
            assert!(is_cancel(&errors.join()));
        });
    }

    fn counts_are_handed_over() {
        in_crowds(|crowd| {
            let (there, back) = (Arc::new(event()), Arc::new(event()));
            let (one, two) = (there.clone(), back.clone());
            let echo = crowd.spawn(1, move || (0..100).for_each(|_| add(&two, take(&one).unwrap() + 1).unwrap()));
            for count in 1..=100 {
                add(&there, count).unwrap();
                assert_eq!(take(&back).unwrap(), count + 1);
            }
            echo.join();
            // The counter is full: the adder waits until the value is taken.
            add(&there, u64::MAX - 1).unwrap();
            let one = there.clone();
            let adder = crowd.spawn(1, move || add(&one, 5).unwrap());
            until_waiting(&adder);
            assert_eq!(take(&there).unwrap(), u64::MAX - 1);
            adder.join();
            assert_eq!(take(&there).unwrap(), 5);
        });
    }

    fn timers_of_the_kernel_are_waited_for() {
        in_crowds(|_crowd| {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).unwrap();
            let timer = Fd::new(timer).unwrap();
            let tick = Timespec { tv_sec: 0, tv_nsec: 200_000 };
            let ticks = Itimerspec { it_interval: tick, it_value: tick };
            timerfd_settime(&timer, TimerfdTimerFlags::empty(), &ticks).unwrap();
            for _ in 0..5 {
                timer.readable().unwrap();
                assert!(take(&timer).unwrap() >= 1);
            }
        });
    }

    /// The kernel is asked: what was ready once, and is not any more, is waited for.
    fn readiness_is_that_of_now() {
        in_crowds(|crowd| {
            let event = Arc::new(event());
            let short = Duration::from_millis(1);
            for _ in 0..3 {
                assert_eq!(event.readable_timeout(short).unwrap_err().kind(), ErrorKind::TimedOut);
                event.writable().unwrap();
                event.writable_timeout(short).unwrap();
                let copy = event.clone();
                let waits = crowd.spawn(1, move || copy.readable().unwrap());
                until_waiting(&waits);
                assert!(!waits.is_finished());
                add(&event, 1).unwrap();
                waits.join();
                event.readable().unwrap();
                event.readable_timeout(short).unwrap();
                take(&event).unwrap();
            }
            add(&event, u64::MAX - 1).unwrap();
            assert_eq!(event.writable_timeout(short).unwrap_err().kind(), ErrorKind::TimedOut);
        });
    }

    fn a_stop_ends_all_waits() {
        in_crowds(|crowd| {
            let waits: [Wait; 3] =
                [|event| event.readable(), |event| take(event).map(drop), |event| {
                    event.writable()?;
                    add(event, u64::MAX - 1)?;
                    event.writable()
                }];
            for (number, wait) in waits.into_iter().enumerate() {
                let token = CancelToken::new();
                let copy = token.clone();
                let member = crowd.spawn(number, move || copy.run(|| wait(&event())));
                until_waiting(&member);
                token.cancel();
                assert!(is_cancel(&member.join().unwrap_err()));
                let late = crowd.spawn(number, move || time::timeout(Duration::from_millis(2), || wait(&event())));
                assert!(is_deadline(&late.join().unwrap_err()));
            }
        });
    }

    /// By reference and by value, of whatever it is.
    fn readers_and_writers_are_such_still() {
        in_crowds(|crowd| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let (mut ours, theirs) = (Fd::new(ours).unwrap(), Fd::new(theirs).unwrap());
            let echo = crowd.spawn(1, move || {
                let mut buffer = [0; 5];
                (&theirs).read_exact(&mut buffer).unwrap();
                (&theirs).write_all(&buffer).unwrap();
                let (first, second) = &mut ([0; 4], [0; 6]);
                let buffers = &mut [IoSliceMut::new(first), IoSliceMut::new(second)];
                assert_eq!((&theirs).read_vectored(buffers).unwrap(), 9);
                (&theirs).flush().unwrap();
            });
            ours.write_all(b"there").unwrap();
            ours.flush().unwrap();
            assert_eq!(ours.write_vectored(&[IoSlice::new(b" and"), IoSlice::new(b" back")]).unwrap(), 9);
            let mut back = String::new();
            ours.read_to_string(&mut back).unwrap();
            assert_eq!(back, "there");
            echo.join();
        });
        everywhere(|| {
            let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn().unwrap();
            let output = Fd::new(child.stdout.take().unwrap()).unwrap();
            assert_eq!(io::read_to_string(output).unwrap(), "hello\n");
            child.wait().unwrap();
        });
    }

    /// A kind of socket that has no type: each message is read by itself, and is cut off.
    fn messages_in_sequence_stay_apart() {
        in_crowds(|crowd| {
            let flags = SocketFlags::CLOEXEC;
            let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
            let (one, other) = (Fd::new(one).unwrap(), Fd::new(other).unwrap());
            let receiver = crowd.spawn(1, move || {
                let mut buffer = [0; 8];
                (0..500).for_each(|length| assert_eq!((&other).read(&mut buffer).unwrap(), 1 + length % 8));
                assert_eq!(((&other).read(&mut buffer[..2]).unwrap(), (&other).read(&mut buffer).unwrap()), (2, 1));
                assert_eq!((&other).read(&mut buffer).unwrap(), 0);
            });
            // There are more than fit: the sender waits, too.
            (0..500).for_each(|length| assert_eq!((&one).write(&[7; 8][..1 + length % 8]).unwrap(), 1 + length % 8));
            [&b"cut off"[..], b"x"].iter().for_each(|it| assert_eq!((&one).write(it).unwrap(), it.len()));
            drop(one);
            receiver.join();
        });
    }

    fn more_buffers_than_the_kernel_takes() {
        everywhere(|| {
            let (one, other) = UnixStream::pair().unwrap();
            let (one, other) = (Fd::new(one).unwrap(), Fd::new(other).unwrap());
            assert_eq!((&one).write_vectored(&vec![IoSlice::new(b"ab"); 2_000]).unwrap(), 2_048);
            let mut bytes = [0; 2_000];
            let mut slices: Vec<_> = bytes.chunks_mut(1).map(IoSliceMut::new).collect();
            assert_eq!(((&other).read_vectored(&mut slices).unwrap(), (&other).read_vectored(&mut slices).unwrap()), (1_024, 1_024));
            assert_eq!(((&other).read_vectored(&mut []).unwrap(), (&one).write_vectored(&[]).unwrap()), (0, 0));
        });
    }

    fn it_is_set_back_in_the_end() {
        everywhere(|| {
            let (one, other) = UnixStream::pair().unwrap();
            let fd = Fd::new(&one).unwrap();
            assert!(is_nonblocking(&one) && fd.as_raw_fd() == one.as_raw_fd());
            assert_eq!(format!("{fd:?}"), format!("Fd({one:?})"));
            drop(fd);
            assert!(!is_nonblocking(&one));
            other.set_nonblocking(true).unwrap();
            assert!(is_nonblocking(Fd::new(other).unwrap().into_inner()), "it was so before");
        });
    }

    /// The kernel has a number in a set once.
    fn two_of_one_descriptor_are_refused() {
        pinned(1).run(|| {
            let (one, mut other) = UnixStream::pair().unwrap();
            let (first, second) = (Fd::new(&one).unwrap(), Fd::new(&one).unwrap());
            fiber::scope(|scope| {
                let waits = scope.spawn(|| first.readable());
                while waits.thread().state() != fiber::State::Parked {
                    fiber::yield_now();
                }
                let error = second.readable().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
                assert!(error.to_string().contains("duplicate"), "{error}");
                let third = Fd::new(one.try_clone().unwrap()).unwrap();
                assert_eq!(third.readable_timeout(Duration::from_millis(1)).unwrap_err().kind(), ErrorKind::TimedOut);
                other.write_all(b"x").unwrap();
                third.readable().unwrap();
                waits.join().unwrap().unwrap();
            });
        });
    }

    /// Standard input becomes another one while it is waited for: what watched the old one takes
    /// nothing from what watches the new one.
    fn a_number_that_is_another_s_by_now_is_left_alone() {
        pinned(1).run(|| {
            let ((old, _old), (new, mut sender)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
            let watched = |input: &UnixStream| {
                dup2_stdin(input).unwrap();
                let fd = Fd::new(io::stdin()).unwrap();
                assert_eq!(fd.readable_timeout(Duration::from_millis(1)).unwrap_err().kind(), ErrorKind::TimedOut);
                fd
            };
            let (first, second) = (watched(&old), watched(&new));
            drop(first);
            let waits = fiber::spawn(move || second.readable());
            while waits.thread().state() != fiber::State::Parked {
                fiber::yield_now();
            }
            sender.write_all(b"x").unwrap();
            waits.join().unwrap().unwrap();
            dup2_stdin(File::open("/dev/null").unwrap()).unwrap();
        });
    }

    /// Also when all that this crate keeps for the thread is gone.
    fn a_stop_ends_a_wait_while_thread_locals_are_dropped() {
        thread_local!(static LAST: Cell<Option<AtEnd>> = const { Cell::new(None) });
        struct AtEnd(fn() -> io::Error, CancelToken, mpsc::Sender<Option<io::Error>>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                self.2.send(None).unwrap();
                self.2.send(Some(self.1.run(self.0))).unwrap();
            }
        }
        let waits: [fn() -> io::Error; 2] = [|| event().readable().unwrap_err(), || {
            let lock = Mutex::new(());
            let _held = lock.lock();
            lock.lock_cancellable().map(drop).unwrap_err().into()
        }];
        for wait in waits {
            let (_watch, token) = (watch_test(), CancelToken::new());
            let (copy, (tell, told)) = (token.clone(), mpsc::channel());
            let thread = thread::spawn(move || {
                LAST.set(Some(AtEnd(wait, copy, tell)));
                // What a thread waits in is made later, and so gone before.
                event().readable_timeout(Duration::from_millis(1)).unwrap_err();
            });
            assert!(told.recv().unwrap().is_none());
            // Time to begin the wait; if it has not, nothing changes.
            thread::sleep(Duration::from_millis(5));
            token.cancel();
            assert!(is_cancel(&told.recv().unwrap().unwrap()));
            thread.join().unwrap();
        }
    }

    /// It is asked for its descriptor at the end, too, and once: two panics at once would end the
    /// process.
    fn a_panic_of_what_is_inside_is_one() {
        struct Moody(UnixStream, Cell<bool>);
        impl AsFd for Moody {
            fn as_fd(&self) -> BorrowedFd<'_> {
                assert!(!self.1.get(), "not now");
                self.0.as_fd()
            }
        }
        let ends: [fn(Fd<Moody>); 2] = [drop, |fd| drop(fd.into_inner())];
        for end in ends {
            let fd = Fd::new(Moody(UnixStream::pair().unwrap().0, Cell::new(false))).unwrap();
            fd.get_ref().1.set(true);
            assert!(catch_unwind(AssertUnwindSafe(|| fd.readable())).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| end(fd))).is_err());
        }
    }

    /// Urgent data wakes the waiting thread, but there is nothing to read, as long as the data is
    /// not received. The thread must not ask all the time.
    fn a_thread_rests_that_is_woken_for_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let receiver = Fd::new(listener.accept().unwrap().0).unwrap();
        SockRef::from(&sender).send_out_of_band(b"!").unwrap();
        let (begun, mut asked) = (Instant::now(), 0);
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            sender.write_all(b"x").unwrap();
            sender
        });
        let peeked = receiver.read_with(|socket| {
            asked += 1;
            socket.peek(&mut [0; 2])
        });
        let most = begun.elapsed().as_millis() + 3;
        assert!(peeked.unwrap() == 1 && asked <= most, "{asked} of {most}");
        drop(writer.join().unwrap());
    }
}
