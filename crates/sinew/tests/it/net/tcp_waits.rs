//! How long calls of connections wait: what std's do, ours do.

use super::as_std;

as_std! {
{
    use crate::crowd::Crowd;
    use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const SHORT: Duration = Duration::from_millis(5);

    fn pair() -> (net::TcpStream, net::TcpStream) {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let here = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (here, listener.accept().unwrap().0)
    }

    /// Writes until it fails. Returns how much, and the error's kind.
    fn fill(stream: &net::TcpStream) -> (usize, ErrorKind) {
        let mut written = 0;
        loop {
            match { stream }.write(&[0; 10_000]) {
                Ok(len) => written += len,
                Err(error) => return (written, error.kind()),
            }
        }
    }
}

fn a_read_is_limited(crowd: Crowd) {
    let (here, mut there) = pair();
    let zero = here.set_read_timeout(Some(Duration::ZERO)).unwrap_err();
    assert_eq!((zero.kind(), zero.to_string()), (ErrorKind::InvalidInput, "cannot set a 0 duration timeout".to_owned()));
    assert_eq!(here.read_timeout().unwrap(), None);
    here.set_read_timeout(Some(SHORT)).unwrap();
    let limit = here.read_timeout().unwrap().unwrap();
    let clone = here.try_clone().unwrap();
    assert_eq!((limit >= SHORT, clone.read_timeout().unwrap()), (true, Some(limit)));
    for stream in [&here, &clone] {
        let begun = Instant::now();
        assert_eq!({ stream }.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(begun.elapsed() >= SHORT);
        assert_eq!(stream.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    // It does what it did, when something comes.
    there.write_all(b"x").unwrap();
    clone.set_read_timeout(None).unwrap();
    assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
    let peer = crowd.spawn(1, move || there.write_all(b"y").map(|()| there).unwrap());
    assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
    drop(peer.join());
}

fn a_write_is_limited(crowd: Crowd) {
    let (here, mut there) = pair();
    here.set_write_timeout(Some(SHORT)).unwrap();
    assert!(here.write_timeout().unwrap().unwrap() >= SHORT);
    let (written, kind) = fill(&here);
    assert_eq!((written > 0, kind), (true, ErrorKind::WouldBlock));
    let peer = crowd.spawn(1, move || {
        let mut read = Vec::new();
        there.read_to_end(&mut read).unwrap();
        read.len()
    });
    here.set_write_timeout(None).unwrap();
    { &here }.write_all(&[1; 100_000]).unwrap();
    here.shutdown(net::Shutdown::Write).unwrap();
    assert!(peer.join() >= written + 100_000);
}

fn nothing_waits_that_is_not_to(crowd: Crowd) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.try_clone().unwrap().accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(listener.incoming().next().unwrap().unwrap_err().kind(), ErrorKind::WouldBlock);
    listener.set_nonblocking(false).unwrap();
    let here = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();

    here.set_nonblocking(true).unwrap();
    let clone = here.try_clone().unwrap();
    assert_eq!({ &clone }.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(here.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(fill(&here).1, ErrorKind::WouldBlock);
    let peer = crowd.spawn(1, move || { &there }.write_all(b"xy").map(|()| there).unwrap());
    let there = peer.join();
    // A nonblocking reader has to ask again and again.
    while let Err(error) = { &here }.read(&mut [0]) {
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
    clone.set_nonblocking(false).unwrap();
    assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
    drop(there);
}

/// A read or write of no bytes does not wait, even if there is no room and no data.
fn nothing_to_move_is_nothing_to_wait_for(_crowd: Crowd) {
    let (here, there) = pair();
    here.set_read_timeout(Some(SHORT)).unwrap();
    here.set_write_timeout(Some(SHORT)).unwrap();
    assert_eq!((fill(&here).1, { &here }.read(&mut [0]).unwrap_err().kind()), (ErrorKind::WouldBlock, ErrorKind::WouldBlock));
    here.set_read_timeout(None).unwrap();
    here.set_write_timeout(None).unwrap();
    assert_eq!(({ &here }.write(&[]).unwrap(), { &here }.write_vectored(&[]).unwrap()), (0, 0));
    assert_eq!({ &here }.write_vectored(&[IoSlice::new(&[])]).unwrap(), 0);
    assert_eq!(({ &here }.read_vectored(&mut []).unwrap(), { &here }.read_vectored(&mut [IoSliceMut::new(&mut [])]).unwrap()), (0, 0));
    drop(there);
    while { &here }.read(&mut [0]).is_ok_and(|len| len > 0) {}
    assert_eq!(({ &here }.write_vectored(&[]).unwrap(), { &here }.write(&[]).unwrap_err().kind()), (0, ErrorKind::BrokenPipe));
}

/// A call that waits already continues as it began.
fn what_is_set_later_is_for_later(crowd: Crowd) {
    let (here, there) = pair();
    let here = Arc::new(here);
    let reader = here.clone();
    let (tell, begun) = std::sync::mpsc::channel();
    let reader = crowd.spawn(1, move || {
        tell.send(crate::net::AboutToWait::here()).unwrap();
        { &*reader }.read(&mut [0])
    });
    // Not by `recv`, which would block the worker that the reader may need.
    let reads = loop {
        match begun.try_recv() {
            Ok(reads) => break reads,
            Err(_) => sinew::fiber::sleep(Duration::from_micros(50)),
        }
    };
    reads.until_waiting();
    here.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    sinew::fiber::sleep(2 * SHORT);
    { &there }.write_all(b"x").unwrap();
    assert_eq!(reader.join().unwrap(), 1);
}

/// The longest there is, and the shortest.
fn strange_time_outs_are_as_long_as_they_can_be(crowd: Crowd) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let here = net::TcpStream::connect_timeout(&addr, Duration::MAX).unwrap();
    let (there, _) = listener.accept().unwrap();
    for long in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_secs(1 << 40)] {
        here.set_read_timeout(Some(long)).unwrap();
        here.set_write_timeout(Some(long)).unwrap();
        let peer = there.try_clone().unwrap();
        let peer = crowd.spawn(1, move || { &peer }.write_all(b"x").unwrap());
        assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
        peer.join();
        { &here }.write_all(b"x").unwrap();
    }
    here.set_read_timeout(Some(Duration::from_nanos(1))).unwrap();
    assert!(here.read_timeout().unwrap() > Some(Duration::ZERO));
    assert_eq!({ &here }.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

fn a_shutdown_ends_the_writes_of_others(crowd: Crowd) {
    let (here, there) = pair();
    here.set_write_timeout(Some(SHORT)).unwrap();
    fill(&here);
    here.set_write_timeout(None).unwrap();
    let here = Arc::new(here);
    let writers = [0, 1].map(|number| {
        let here = here.clone();
        // The kernel may have made some more room.
        let mut write = move || { &*here }.write_all(&[0; 100_000]);
        crowd.spawn(number, move || std::iter::repeat_with(&mut write).find_map(Result::err).unwrap().kind())
    });
    sinew::fiber::sleep(Duration::from_micros(500));
    here.shutdown(net::Shutdown::Write).unwrap();
    assert_eq!(writers.map(|writer| writer.join()), [ErrorKind::BrokenPipe; 2]);
    drop(there);
}

/// Std has no call to set them for a listener, but the descriptor has them, and what is accepted.
fn time_outs_come_with_a_listener(_crowd: Crowd) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket2::SockRef::from(&listener).set_read_timeout(Some(SHORT)).unwrap();
    socket2::SockRef::from(&listener).set_write_timeout(Some(SHORT)).unwrap();
    let listener = net::TcpListener::from(std::os::fd::OwnedFd::from(listener));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    let mut there = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (here, _) = listener.accept().unwrap();
    assert!(here.read_timeout().unwrap() >= Some(SHORT) && here.write_timeout().unwrap() >= Some(SHORT));
    assert_eq!({ &here }.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(fill(&here).1, ErrorKind::WouldBlock);
    here.set_read_timeout(None).unwrap();
    // It is its own.
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    there.write_all(b"x").unwrap();
    assert_eq!({ &here }.read(&mut [0]).unwrap(), 1);
}

fn a_shutdown_ends_the_reads_of_others(crowd: Crowd) {
    let (here, there) = pair();
    let here = Arc::new(here);
    let readers: Vec<_> = (0..3).map(|number| {
        let here = here.clone();
        crowd.spawn(number, move || { &*here }.read(&mut [0]).unwrap())
    }).collect();
    here.shutdown(net::Shutdown::Read).unwrap();
    assert!(readers.into_iter().all(|reader| reader.join() == 0));
    drop(there);
}

fn what_is_set_is_there(_crowd: Crowd) {
    let (here, _there) = pair();
    for is_set in [true, false] {
        here.set_nodelay(is_set).unwrap();
        assert_eq!(here.nodelay().unwrap(), is_set);
    }
    here.set_ttl(50).unwrap();
    assert_eq!(here.ttl().unwrap(), 50);
    assert!(here.take_error().unwrap().is_none());
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_ttl(51).unwrap();
    assert_eq!(listener.ttl().unwrap(), 51);
    assert!(listener.take_error().unwrap().is_none());
    let text = format!("{listener:?} {:?}", listener.incoming());
    let addr = listener.local_addr().unwrap();
    assert!(text.starts_with(&format!("TcpListener {{ addr: {addr}, fd: ")), "{text}");
    assert!(text.contains(&format!("Incoming {{ listener: TcpListener {{ addr: {addr}, fd: ")), "{text}");
    let (local, peer) = (here.local_addr().unwrap(), here.peer_addr().unwrap());
    let text = format!("{here:?}");
    assert!(text.starts_with(&format!("TcpStream {{ addr: {local}, peer: {peer}, fd: ")), "{text}");
}
}
