//! Connections: what std's do, ours do.

use super::as_std;

as_std! {
{
    use crate::crowd::Crowd;
    use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
    use std::sync::Arc;

    fn listen() -> (net::TcpListener, net::SocketAddr) {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        (listener, addr)
    }

    fn pair() -> (net::TcpStream, net::TcpStream) {
        let (listener, addr) = listen();
        let here = net::TcpStream::connect(addr).unwrap();
        (here, listener.accept().unwrap().0)
    }

    /// An address where no socket listens, or will: other tests have other addresses.
    fn nowhere() -> net::SocketAddr {
        net::SocketAddr::from(([127, 77, 0, 1], 9))
    }

    /// Bytes that are not the same everywhere.
    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 31 % 251) as u8).collect()
    }
}

fn many_connections_are_served(crowd: Crowd) {
    let (listener, addr) = listen();
    let server = crowd.spawn(0, move || {
        let serve = |stream: io::Result<net::TcpStream>| {
            let mut stream = stream.unwrap();
            crowd.spawn(0, move || io::copy(&mut &stream, &mut &stream).map(|len| (len, stream.flush().is_ok())).unwrap())
        };
        let servers: Vec<_> = listener.incoming().take(10).map(serve).collect();
        servers.into_iter().map(|server| server.join()).fold(0, |sum, (len, _)| sum + len)
    });
    crowd.all(10, move |number| {
        let mut stream = net::TcpStream::connect(addr).unwrap();
        for len in [1, 10, 100 * number + 1] {
            let (sent, mut echo) = (pattern(len), vec![0; len]);
            stream.write_all(&sent).unwrap();
            stream.read_exact(&mut echo).unwrap();
            assert_eq!(sent, echo);
        }
        stream.shutdown(net::Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    });
    assert_eq!(server.join(), 10 * 12 + 100 * 45);
}

fn one_direction_ends_before_the_other(crowd: Crowd) {
    let (mut here, mut there) = pair();
    let peer = crowd.spawn(1, move || {
        let mut text = String::new();
        there.read_to_string(&mut text).unwrap();
        there.write_all(text.to_uppercase().as_bytes()).unwrap();
    });
    here.write_all(b"some words").unwrap();
    here.shutdown(net::Shutdown::Write).unwrap();
    assert_eq!(here.write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
    let mut answer = String::new();
    here.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "SOME WORDS");
    peer.join();
}

/// The bytes and the end of them come at once, and a read that had room for more has seen the bytes
/// only.
fn the_end_is_read_after_a_short_read(crowd: Crowd) {
    let (listener, addr) = listen();
    let peer = crowd.spawn(1, move || {
        for _ in 0..20 {
            listener.accept().unwrap().0.write_all(b"last words").unwrap();
        }
    });
    for round in 0..20 {
        let mut stream = net::TcpStream::connect(addr).unwrap();
        let mut buffer = [0; 64];
        if round % 2 == 0 {
            // It has come by then, mostly.
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        assert_eq!(stream.read(&mut buffer).unwrap(), 10);
        assert_eq!((stream.read(&mut buffer).unwrap(), stream.read(&mut buffer).unwrap()), (0, 0));
    }
    peer.join();
}

/// A read stops where something urgent was, and more is behind it.
fn something_urgent_hides_nothing(crowd: Crowd) {
    let (here, there) = pair();
    let peer = crowd.spawn(1, move || {
        for _ in 0..30 {
            (&there).write_all(b"ab").unwrap();
            socket2::SockRef::from(&there).send_out_of_band(b"!").unwrap();
            (&there).write_all(b"cd").unwrap();
            (&there).read_exact(&mut [0]).unwrap();
        }
    });
    for round in 0..30 {
        let mut letters = 0;
        // What was urgent and was not taken comes as the rest does, later.
        while letters < 4 {
            let mut buffer = [0; 64];
            let len = (&here).read(&mut buffer).unwrap();
            assert_ne!(len, 0, "{round}");
            letters += buffer[..len].iter().filter(|&&byte| byte != b'!').count();
        }
        (&here).write_all(b"x").unwrap();
    }
    peer.join();
}

fn a_look_leaves_all_there(crowd: Crowd) {
    let (mut here, mut there) = pair();
    let peer = crowd.spawn(1, move || {
        there.write_all(b"look").unwrap();
        there
    });
    let mut buffer = [0; 8];
    assert_ne!(here.peek(&mut buffer).unwrap(), 0);
    let there = peer.join();
    for len in [2, 4] {
        assert_eq!(here.peek(&mut buffer[..len]).unwrap(), len);
        assert_eq!(&buffer[..len], &b"look"[..len]);
    }
    assert_eq!(here.read(&mut buffer).unwrap(), 4);
    drop(there);
    assert_eq!((here.peek(&mut buffer).unwrap(), here.read(&mut buffer).unwrap()), (0, 0));
}

fn several_buffers_at_once(crowd: Crowd) {
    let (here, there) = pair();
    // There is nothing to wait for.
    assert_eq!((&here).read_vectored(&mut []).unwrap(), 0);
    let peer = crowd.spawn(1, move || {
        let many = vec![IoSlice::new(b"ab"); 3_000];
        assert_eq!((&there).write_vectored(&[IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(b"two")]).unwrap(), 6);
        assert_eq!((&there).write_vectored(&[]).unwrap(), 0);
        (&there).write_vectored(&many).unwrap()
    });
    let (mut first, mut second) = ([0; 4], [0; 2]);
    let read = (&here).read_vectored(&mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)]).unwrap();
    assert_eq!((read, &first, &second), (6, b"onet", b"wo"));
    // The kernel takes no more slices at once.
    assert_eq!(peer.join(), 2_048);
    let mut rest = Vec::new();
    (&here).read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"ab".repeat(1_024));
}

/// Those that were left out are no room that was not filled.
fn more_buffers_than_the_kernel_takes(crowd: Crowd) {
    let (here, there) = pair();
    let peer = crowd.spawn(1, move || {
        (&there).read_exact(&mut [0]).unwrap();
        (&there).write_all(&pattern(3_000)).unwrap();
        there
    });
    (&here).write_all(b"x").unwrap();
    while here.peek(&mut [0; 3_000]).unwrap() < 3_000 {
        std::thread::yield_now();
    }
    let mut read = Vec::<u8>::new();
    while read.len() < 3_000 {
        let mut bytes = vec![0; 3_000];
        let mut slices: Vec<_> = bytes.chunks_mut(1).map(IoSliceMut::new).collect();
        let len = (&here).read_vectored(&mut slices).unwrap();
        assert!((1..=1_024).contains(&len));
        read.extend(&bytes[..len]);
    }
    assert!(read == pattern(3_000));
    // There is no room in those that it takes.
    let mut byte = [0];
    let mut slices: Vec<_> = (0..1_024).map(|_| IoSliceMut::new(&mut [])).chain([IoSliceMut::new(&mut byte)]).collect();
    assert_eq!((&here).read_vectored(&mut slices).unwrap(), 0);
    drop(peer.join());
}

/// More than fits anywhere goes both ways at once, through one socket that two use.
fn two_use_one_socket_in_both_directions(crowd: Crowd) {
    const LEN: usize = 1_000_000;
    let (here, there) = pair();
    let ends = [Arc::new(here), Arc::new(there)];
    let mut members = Vec::new();
    for (number, end) in ends.into_iter().enumerate() {
        let (clone, reader) = (end.try_clone().unwrap(), end.clone());
        members.push(crowd.spawn(number, move || {
            let mut clone = clone;
            clone.write_all(&pattern(LEN)).unwrap();
            clone.shutdown(net::Shutdown::Write).unwrap();
        }));
        members.push(crowd.spawn(number + 1, move || {
            let mut read = Vec::new();
            (&*reader).read_to_end(&mut read).unwrap();
            assert!(read == pattern(LEN));
        }));
    }
    members.into_iter().for_each(|member| member.join());
}

fn several_read_from_one_socket(crowd: Crowd) {
    let (here, mut there) = pair();
    let here = Arc::new(here);
    let readers: Vec<_> = (0..4).map(|number| {
        let here = here.clone();
        crowd.spawn(number, move || {
            let mut sum = 0;
            let mut buffer = [0; 3];
            loop {
                match (&*here).read(&mut buffer).unwrap() {
                    0 => return sum,
                    read => sum += buffer[..read].iter().map(|&byte| u64::from(byte)).sum::<u64>(),
                }
            }
        })
    }).collect();
    let sent = pattern(5_000);
    for part in sent.chunks(7) {
        there.write_all(part).unwrap();
    }
    there.shutdown(net::Shutdown::Write).unwrap();
    let sum: u64 = readers.into_iter().map(|reader| reader.join()).sum();
    assert_eq!(sum, sent.iter().map(|&byte| u64::from(byte)).sum::<u64>());
}

fn several_accept_at_one_listener(crowd: Crowd) {
    let (listener, addr) = listen();
    let listener = Arc::new(listener);
    let accepting: Vec<_> = (0..4).map(|number| {
        let listener = if number == 3 { Arc::new(listener.try_clone().unwrap()) } else { listener.clone() };
        crowd.spawn(number, move || {
            for _ in 0..5 {
                let (stream, from) = listener.accept().unwrap();
                assert_eq!(stream.peer_addr().unwrap(), from);
                (&stream).write_all(b"x").unwrap();
            }
        })
    }).collect();
    crowd.all(20, move |_| {
        let mut text = String::new();
        net::TcpStream::connect(addr).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    });
    accepting.into_iter().for_each(|member| member.join());
}

fn nobody_is_there(_crowd: Crowd) {
    let addr = nowhere();
    assert_eq!(net::TcpStream::connect(addr).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let time = std::time::Duration::from_secs(60);
    assert_eq!(net::TcpStream::connect_timeout(&addr, time).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let zero = net::TcpStream::connect_timeout(&addr, std::time::Duration::ZERO).unwrap_err();
    assert_eq!((zero.kind(), zero.to_string()), (ErrorKind::InvalidInput, "cannot set a 0 duration timeout".to_owned()));
}

fn addresses_are_tried_in_turn(_crowd: Crowd) {
    let nowhere = nowhere();
    let (listener, addr) = listen();
    let stream = net::TcpStream::connect(&[nowhere, addr][..]).unwrap();
    assert_eq!(stream.peer_addr().unwrap(), addr);
    let error = net::TcpStream::connect(&[nowhere, nowhere][..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let none = net::TcpStream::connect(&[][..]).unwrap_err();
    assert_eq!((none.kind(), none.to_string()), (ErrorKind::InvalidInput, "could not resolve to any addresses".to_owned()));
    assert_eq!(net::TcpListener::bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
    assert_eq!(net::TcpListener::bind(&[addr, "127.0.0.1:0".parse().unwrap()][..]).unwrap().local_addr().unwrap().ip(), addr.ip());
    drop(listener);
}

/// It waits until all is taken, or for as long as it may: then it says how much was.
fn a_call_writes_all_of_it(crowd: Crowd) {
    const LEN: usize = 6_000_000;
    let (here, there) = pair();
    let bytes: Vec<u8> = (0..LEN).map(|at| at as u8).collect();
    let expected = bytes.clone();
    let reads = crowd.spawn(1, move || {
        for _ in 0..2 {
            let mut read = vec![0; LEN];
            (&there).read_exact(&mut read).unwrap();
            assert!(read == expected);
        }
        there
    });
    assert_eq!((&here).write(&bytes).unwrap(), LEN);
    let (mut slices, mut rest) = (Vec::new(), &bytes[..]);
    for len in [0, 1, 1_000_000, 0, 70_000, 3_000_000] {
        let (slice, after) = rest.split_at(len);
        slices.push(IoSlice::new(slice));
        rest = after;
    }
    slices.push(IoSlice::new(rest));
    assert_eq!((&here).write_vectored(&slices).unwrap(), LEN);
    let _there = reads.join();
    here.set_write_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    let large = vec![0; 64 << 20];
    let written = (&here).write(&large).unwrap();
    assert!(0 < written && written < large.len(), "{written}");
    // The kernel may make some more room.
    let full = std::iter::from_fn(|| Some((&here).write(&large))).find_map(Result::err).unwrap();
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
}

/// In each call that may wait by then.
fn a_reset_ends_all_waits(crowd: Crowd) {
    type Call = fn(&net::TcpStream) -> std::io::Result<usize>;
    let calls: [Call; 5] = [
        |mut stream| stream.read(&mut [0]),
        |mut stream| stream.read_vectored(&mut [IoSliceMut::new(&mut [0])]),
        |stream| stream.peek(&mut [0]),
        |mut stream| loop {
            assert_ne!(stream.write(&[0; 10_000])?, 0);
        },
        |mut stream| loop {
            assert_ne!(stream.write_vectored(&[IoSlice::new(&[0; 10_000])])?, 0);
        },
    ];
    for (number, call) in calls.into_iter().enumerate() {
        let (here, there) = pair();
        socket2::SockRef::from(&there).set_linger(Some(std::time::Duration::ZERO)).unwrap();
        let here = Arc::new(here);
        let waits = [0, 1].map(|more| {
            let here = here.clone();
            crowd.spawn(number + more, move || call(&here).err().map(|error| error.kind()))
        });
        sinew::fiber::sleep(std::time::Duration::from_micros(500));
        drop(there);
        // One of them hears of it. The other one finds what that has left: the end, or a pipe that
        // leads nowhere.
        let kinds = waits.map(|member| member.join());
        assert!(kinds.contains(&Some(ErrorKind::ConnectionReset)), "{number}: {kinds:?}");
        assert!(kinds.iter().all(|kind| number < 3 || kind.is_some()), "{number}: {kinds:?}");
    }
}

/// A connection that its client has reset before it is accepted is accepted all the same.
fn a_reset_before_it_is_accepted(_crowd: Crowd) {
    let (listener, addr) = listen();
    let client = net::TcpStream::connect(addr).unwrap();
    socket2::SockRef::from(&client).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(client);
    let (stream, _) = listener.accept().unwrap();
    assert_eq!((&stream).read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!((&stream).write(&[0]).unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!((&stream).read(&mut [0]).unwrap(), 0);
}

/// The reset comes at each possible point: before anything is read, after a part of it, during a
/// wait, and when something is written.
fn a_reset_is_an_error(crowd: Crowd) {
    for point in 0..4 {
        let (mut here, mut there) = pair();
        socket2::SockRef::from(&there).set_linger(Some(std::time::Duration::ZERO)).unwrap();
        let peer = crowd.spawn(1, move || {
            if point != 0 {
                there.write_all(b"some").unwrap();
                there.peek(&mut [0]).unwrap();
            }
        });
        if point == 0 {
            assert_eq!(here.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
            peer.join();
            continue;
        }
        here.read_exact(&mut [0; 4][..point]).unwrap();
        here.write_all(b"x").unwrap();
        peer.join();
        if point == 3 {
            let error = loop {
                if let Err(error) = here.write_all(b"x") {
                    break error;
                }
            };
            assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error}");
        } else {
            let mut rest = Vec::new();
            assert_eq!(here.read_to_end(&mut rest).unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    }
}
}
