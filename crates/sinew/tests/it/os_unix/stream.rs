//! Streams.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alike, alone, until_waiting};
use super::super::support::{Random, everywhere};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use sinew::fiber;
use sinew::os::unix::net::UnixStream;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net as std_net;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

/// Bytes that tell where they belong.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

alike! {
    fn bytes_arrive_in_order_and_end(crowd) {
        let (mut one, other) = net::UnixStream::pair().unwrap();
        let echo = crowd.spawn(1, move || {
            let (mut random, mut buffer) = (Random::new(1), vec![0; 5_000]);
            loop {
                let room = 1 + random.below(5_000) as usize;
                match (&other).read(&mut buffer[..room]).unwrap() {
                    0 => return other.shutdown(Shutdown::Write).unwrap(),
                    read => (&other).write_all(&buffer[..read]).unwrap(),
                }
            }
        });
        let sender = one.try_clone().unwrap();
        let write = crowd.spawn(0, move || {
            let (mut random, bytes, mut sent) = (Random::new(2), bytes(300_000), 0);
            while sent < bytes.len() {
                let end = bytes.len().min(sent + 1 + random.below(20_000) as usize);
                (&sender).write_all(&bytes[sent..end]).unwrap();
                sent = end;
            }
            sender.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        one.read_to_end(&mut back).unwrap();
        assert!(back == bytes(300_000), "{}", back.len());
        write.join();
        echo.join();
    }

    fn the_end_of_a_peer_is_told(_crowd) {
        let (mut one, mut other) = net::UnixStream::pair().unwrap();
        other.write_all(b"last").unwrap();
        drop(other);
        let mut all = String::new();
        assert_eq!((one.read_to_string(&mut all).unwrap(), &*all), (4, "last"));
        assert_eq!(one.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (mut one, mut other) = net::UnixStream::pair().unwrap();
        one.write_all(b"unread").unwrap();
        drop(one);
        other.read_exact(&mut [0; 6]).unwrap();
        assert_eq!(other.read(&mut [0]).unwrap(), 0);
        let (one, mut other) = net::UnixStream::pair().unwrap();
        other.write_all(b"unread").unwrap();
        drop(one);
        assert_eq!(other.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }

    fn time_outs_and_modes_are_as_in_std(_crowd) {
        let (mut one, mut other) = net::UnixStream::pair().unwrap();
        let copy = one.try_clone().unwrap();
        let short = Some(Duration::from_millis(1));
        assert_eq!(one.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!((one.read_timeout().unwrap(), one.write_timeout().unwrap()), (None, None));
        one.set_read_timeout(short).unwrap();
        assert!(copy.read_timeout().unwrap() >= short);
        for mut stream in [&one, &copy] {
            let error = stream.read(&mut [0]).unwrap_err();
            assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::WouldBlock, Some(11)));
        }
        one.set_write_timeout(short).unwrap();
        let error = loop {
            if let Err(error) = one.write(&[0; 10_000]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        one.set_read_timeout(None).unwrap();
        copy.set_nonblocking(true).unwrap();
        assert_eq!(one.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        other.write_all(b"ab").unwrap();
        one.read_exact(&mut [0; 2]).unwrap();
        one.set_nonblocking(false).unwrap();
        other.write_all(b"c").unwrap();
        assert_eq!((&copy).read(&mut [0; 2]).unwrap(), 1);
        assert!(one.take_error().unwrap().is_none());
    }

    fn several_buffers_at_once(crowd) {
        let (one, other) = net::UnixStream::pair().unwrap();
        let reader = crowd.spawn(1, move || {
            let (mut first, mut second) = ([0; 3], [0; 3]);
            let buffers = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
            assert_eq!((&other).read_vectored(buffers).unwrap(), 5);
            (first, second)
        });
        until_waiting(&reader);
        assert_eq!((&one).write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).unwrap(), 5);
        assert_eq!(reader.join(), (*b"abc", *b"de\0"));
    }

    /// A read or write of no bytes does not wait, even if there is no room and no data.
    fn nothing_to_move_is_nothing_to_wait_for(_crowd) {
        let (one, other) = net::UnixStream::pair().unwrap();
        let short = Some(Duration::from_millis(1));
        one.set_read_timeout(short).unwrap();
        one.set_write_timeout(short).unwrap();
        while (&one).write(&[0; 10_000]).is_ok() {}
        assert_eq!((&one).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        one.set_read_timeout(None).unwrap();
        one.set_write_timeout(None).unwrap();
        assert_eq!(((&one).write(&[]).unwrap(), (&one).write_vectored(&[]).unwrap()), (0, 0));
        assert_eq!((&one).read_vectored(&mut [IoSliceMut::new(&mut [])]).unwrap(), 0);
        let mut slices: Vec<_> = (0..2_000).map(|_| IoSliceMut::new(&mut [])).collect();
        assert_eq!((&one).read_vectored(&mut slices).unwrap(), 0);
        drop(other);
        assert_eq!((&one).write_vectored(&[IoSlice::new(&[])]).unwrap(), 0);
        assert_eq!((&one).write(&[]).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    /// Each byte goes to one of them.
    fn many_read_from_one(crowd) {
        let (one, other) = net::UnixStream::pair().unwrap();
        let other = std::sync::Arc::new(other);
        let readers: Vec<_> = (0..8)
            .map(|number| {
                let other = other.clone();
                crowd.spawn(number, move || {
                    let mut byte = [0];
                    (&*other).read_exact(&mut byte).unwrap();
                    byte[0]
                })
            })
            .collect();
        readers.iter().for_each(until_waiting);
        (&one).write_all(&[0, 1, 2, 3]).unwrap();
        (4..8).for_each(|byte| (&one).write_all(&[byte]).unwrap());
        let mut all: Vec<u8> = readers.into_iter().map(|reader| reader.join()).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// A number that was closed is that of another one at once, and the events of the one are not
    /// those of the other.
    fn numbers_are_used_again(crowd) {
        for round in 0..50_u8 {
            let (mut one, mut other) = net::UnixStream::pair().unwrap();
            let reader = crowd.spawn(usize::from(round % 2), move || {
                let mut byte = [0];
                one.read_exact(&mut byte).unwrap();
                byte[0]
            });
            if round % 3 == 0 {
                until_waiting(&reader);
            }
            other.write_all(&[round]).unwrap();
            assert_eq!(reader.join(), round);
        }
    }
}

/// Sends bytes, and a descriptor with them.
fn send_along(socket: impl AsFd, bytes: &[u8], sent: impl AsFd) {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = [sent.as_fd()];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::empty()).unwrap();
    assert_eq!(sent, bytes.len());
}

alone! {
    /// A read ends where a descriptor was sent along, and leaves the rest.
    fn short_reads_are_not_taken_for_the_end() {
        in_crowds(|crowd| {
            let (one, mut other) = UnixStream::pair().unwrap();
            let sender = crowd.spawn(0, move || {
                for _ in 0..20 {
                    [&b"ab"[..], b"cd", b"ef"].iter().for_each(|part| send_along(&one, part, &one));
                    fiber::yield_now();
                }
                (&one).write_all(b"end").unwrap();
                // It stays open: nothing but the bytes tells that they are there.
                (&one).read_exact(&mut [0]).unwrap();
            });
            let (mut buffer, mut read) = ([0; 64], 0);
            while read < 123 {
                read += other.read(&mut buffer).unwrap();
            }
            other.write_all(b"x").unwrap();
            sender.join();
        });
    }

    fn close_ends_the_waits_of_others() {
        in_crowds(|crowd| {
            for number in 0..40 {
                let (one, _other) = UnixStream::pair().unwrap();
                one.set_write_timeout(Some(Duration::from_micros(1))).unwrap();
                while (&one).write(&[0; 10_000]).is_ok() {}
                one.set_write_timeout(None).unwrap();
                let one = Arc::new(one);
                let (reads, writes) = (one.clone(), one.clone());
                let reader = crowd.spawn(number, move || (&*reads).read(&mut [0]).unwrap_err().kind());
                let writer = crowd.spawn(number + 1, move || (&*writes).write(&[0; 10_000]).unwrap_err().kind());
                // Of others it may come before they wait, while they try, or after.
                if number < 4 {
                    until_waiting(&reader);
                    until_waiting(&writer);
                }
                one.close();
                assert_eq!((reader.join(), writer.join()), (ErrorKind::ConnectionAborted, ErrorKind::ConnectionAborted));
                assert_eq!((&*one).read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionAborted);
                one.close();
            }
        });
    }

    fn what_is_set_comes_and_goes_with_it() {
        everywhere(|| {
            let (one, _other) = std_net::UnixStream::pair().unwrap();
            let time = Some(Duration::from_millis(4));
            one.set_read_timeout(time).unwrap();
            let mut ours = UnixStream::from(one);
            assert_eq!(ours.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            ours.set_read_timeout(None).unwrap();
            ours.set_write_timeout(time).unwrap();
            ours.set_nonblocking(true).unwrap();
            let std = std_net::UnixStream::from(ours);
            assert_eq!((std.read_timeout().unwrap(), std.write_timeout().unwrap()), (None, time));
            let mut ours = UnixStream::from(std);
            assert_eq!(ours.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            ours.set_nonblocking(false).unwrap();
            let (ours_text, number) = (format!("{ours:?}"), ours.as_raw_fd());
            let fd = OwnedFd::from(ours);
            assert_eq!((fd.as_raw_fd(), ours_text), (number, format!("{:?}", std_net::UnixStream::from(fd))));
        });
    }
}

#[test]
fn it_may_be_shared_and_survives_panics() {
    fn check<
        T: Send + Sync + UnwindSafe + RefUnwindSafe + AsFd + AsRawFd + FromRawFd + IntoRawFd + From<OwnedFd>,
    >() {
    }
    check::<UnixStream>();
    check::<sinew::os::unix::net::UnixListener>();
    check::<sinew::os::unix::net::UnixDatagram>();
    check::<sinew::io::PipeReader>();
    check::<sinew::io::PipeWriter>();
}
