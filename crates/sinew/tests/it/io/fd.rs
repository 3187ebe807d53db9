//! Any descriptor.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alone, is_cancel, is_deadline, until_waiting};
use super::super::support::{everywhere, pinned};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use sinew::fiber::CancelToken;
use sinew::io::Fd;
use sinew::{fiber, time};
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

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
            // The counter is full: whoever adds waits for whoever takes.
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
}
