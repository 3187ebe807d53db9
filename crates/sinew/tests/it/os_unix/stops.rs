//! Cancellation and deadlines in all that waits.

use super::super::crowd::in_crowds;
use super::super::descriptors::{LONG, alone, is_cancel, is_deadline, until_waiting};
use super::super::support::{everywhere, message};
use super::Place;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use sinew::time;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

type Wait = fn() -> io::Result<()>;

/// Something to wait for that never comes.
fn waits() -> [Wait; 6] {
    [
        || {
            let (mut one, _other) = UnixStream::pair()?;
            one.set_read_timeout(Some(LONG))?;
            one.read(&mut [0]).map(drop)
        },
        || {
            let (mut one, _other) = UnixStream::pair()?;
            loop {
                one.write_all(&[0; 10_000])?;
            }
        },
        || {
            let place = Place::new();
            UnixListener::bind(&place.0)?.accept().map(drop)
        },
        || {
            let place = Place::new();
            let fd = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
            bind(&fd, &SocketAddrUnix::new(&place.0)?)?;
            listen(&fd, 0)?;
            let mut all = Vec::new();
            loop {
                all.push(UnixStream::connect(&place.0)?);
            }
        },
        || {
            let (one, _other) = UnixDatagram::pair()?;
            loop {
                one.send(&[0; 1_000])?;
            }
        },
        || {
            let place = Place::new();
            let (_receiver, sender) = (UnixDatagram::bind(&place.0)?, UnixDatagram::unbound()?);
            loop {
                sender.send_to(b"x", &place.0)?;
            }
        },
    ]
}

alone! {
    fn a_cancel_ends_all_waits() {
        in_crowds(|crowd| {
            for (number, wait) in waits().into_iter().enumerate() {
                let token = CancelToken::new();
                let copy = token.clone();
                let member = crowd.spawn(number, move || copy.run(wait));
                until_waiting(&member);
                token.cancel();
                let error = member.join().unwrap_err();
                assert!(is_cancel(&error), "{number}: {error:?}");
            }
        });
    }

    fn a_deadline_ends_all_waits() {
        in_crowds(|crowd| {
            for (number, wait) in waits().into_iter().enumerate() {
                let member = crowd.spawn(number, move || time::timeout(Duration::from_millis(2), wait));
                let error = member.join().unwrap_err();
                assert!(is_deadline(&error), "{number}: {error:?}");
            }
        });
    }

    /// Nothing is done that need not wait, either.
    fn whoever_is_to_stop_does_not_begin() {
        in_crowds(|_crowd| {
            let token = CancelToken::new();
            token.cancel();
            let (place, (one, other)) = (Place::new(), UnixStream::pair().unwrap());
            let listener = UnixListener::bind(&place.0).unwrap();
            let errors = token.run(|| {
                let write = (&one).write(b"x").map(drop);
                let connect = UnixStream::connect(&place.0).map(drop);
                [write, connect].map(Result::unwrap_err)
            });
            for error in errors {
                assert!(is_cancel(&error), "{error:?}");
                assert_eq!(error.downcast::<Stopped>().unwrap().at().file(), file!());
            }
            listener.set_nonblocking(true).unwrap();
            other.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err() && (&other).read(&mut [0]).is_err());
        });
    }

    /// Who must not wait panics, and leaves no trace.
    fn whoever_must_not_wait_panics() {
        everywhere(|| {
            let (one, other) = UnixStream::pair().unwrap();
            let read = || fiber::no_suspend(|| (&one).read(&mut [0]));
            let panic = catch_unwind(AssertUnwindSafe(read)).unwrap_err();
            assert!(message(&*panic).contains("no_suspend"), "{}", message(&*panic));
            let reader = fiber::spawn(move || (&one).read(&mut [0; 8]).unwrap());
            (&other).write_all(b"x").unwrap();
            assert_eq!(reader.join().unwrap(), 1);
        });
    }
}
