//! Sockets that send single messages.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alike, alone, until_waiting};
use super::super::support::everywhere;
use super::{Place, name};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, socket};
use sinew::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as std_net;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

alike! {
    fn messages_stay_apart(crowd) {
        let (one, other) = net::UnixDatagram::pair().unwrap();
        let receiver = crowd.spawn(1, move || {
            let mut buffer = [0; 8];
            for length in 0..1_000 {
                assert_eq!(other.recv(&mut buffer).unwrap(), length % 8);
            }
            assert_eq!(other.recv(&mut buffer[..2]).unwrap(), 2);
            assert_eq!(other.recv(&mut buffer).unwrap(), 1);
        });
        // There are more than fit: the sender waits, too.
        (0..1_000).for_each(|length| assert_eq!(one.send(&[7; 8][..length % 8]).unwrap(), length % 8));
        one.send(b"cut off").unwrap();
        one.send(b"x").unwrap();
        receiver.join();
    }

    fn senders_are_told(_crowd) {
        let (place, mut buffer) = (Place::new(), [0; 8]);
        let one = net::UnixDatagram::bind(&place.0).unwrap();
        let address = net::SocketAddr::from_abstract_name(name()).unwrap();
        let two = net::UnixDatagram::bind_addr(&address).unwrap();
        let three = net::UnixDatagram::unbound().unwrap();
        two.send_to(b"two", &place.0).unwrap();
        let (length, from) = one.recv_from(&mut buffer).unwrap();
        assert_eq!((length, from.as_abstract_name()), (3, address.as_abstract_name()));
        one.send_to_addr(b"one", &address).unwrap();
        let (length, from) = two.recv_from(&mut buffer).unwrap();
        assert_eq!((length, from.as_pathname()), (3, Some(&*place.0)));
        three.connect_addr(&address).unwrap();
        three.send(b"three").unwrap();
        let (length, from) = two.recv_from(&mut buffer).unwrap();
        assert!(length == 5 && from.is_unnamed());
        three.connect(&place.0).unwrap();
        assert_eq!(three.peer_addr().unwrap().as_pathname(), Some(&*place.0));
        assert!(three.local_addr().unwrap().is_unnamed());
        assert_eq!(net::UnixDatagram::unbound().unwrap().send(b"x").unwrap_err().kind(), ErrorKind::NotConnected);
        assert_eq!(two.send_to(b"x", "/no/such/path").unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn time_outs_and_modes_are_as_in_std(_crowd) {
        let (one, other) = net::UnixDatagram::pair().unwrap();
        let short = Some(Duration::from_millis(1));
        assert_eq!(one.set_write_timeout(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidInput);
        one.set_read_timeout(short).unwrap();
        one.set_write_timeout(short).unwrap();
        assert!(one.read_timeout().unwrap() >= short && one.write_timeout().unwrap() >= short);
        assert_eq!(one.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let error = loop {
            if let Err(error) = one.send(&[0; 1_000]) {
                break error;
            }
        };
        assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::WouldBlock, Some(11)));
        other.set_nonblocking(true).unwrap();
        while other.try_clone().unwrap().recv(&mut [0]).is_ok() {}
        one.send(b"x").unwrap();
        other.shutdown(Shutdown::Both).unwrap();
        assert!(one.send(b"x").is_err() && one.take_error().unwrap().is_none());
    }

    /// Others have filled the queue of the receiver: the kernel tells the sender nothing of that.
    fn whoever_finds_no_room_sends_later(crowd) {
        let place = Place::new();
        let receiver = net::UnixDatagram::bind(&place.0).unwrap();
        let filler = net::UnixDatagram::unbound().unwrap();
        filler.set_nonblocking(true).unwrap();
        let mut count = 0;
        while filler.send_to(b"filler", &place.0).is_ok() {
            count += 1;
        }
        let sender = net::UnixDatagram::unbound().unwrap();
        sender.set_write_timeout(Some(Duration::from_millis(1))).unwrap();
        assert_eq!(sender.send_to(b"late", &place.0).unwrap_err().kind(), ErrorKind::WouldBlock);
        sender.set_write_timeout(None).unwrap();
        let path = place.0.clone();
        let sender = crowd.spawn(1, move || sender.send_to(b"late", path).unwrap());
        let path = place.0.clone();
        let second = crowd.spawn(0, move || {
            let socket = net::UnixDatagram::unbound().unwrap();
            socket.connect(path).unwrap();
            socket.send(b"connected").unwrap()
        });
        until_waiting(&sender);
        until_waiting(&second);
        let mut buffer = [0; 16];
        (0..count).for_each(|_| assert_eq!(receiver.recv(&mut buffer).unwrap(), 6));
        let mut last = [receiver.recv(&mut buffer).unwrap(), receiver.recv(&mut buffer).unwrap()];
        last.sort_unstable();
        assert_eq!((last, sender.join(), second.join()), ([4, 9], 4, 9));
    }
}

alone! {
    /// If one receiver has no room, senders to another receiver are not affected.
    fn a_full_receiver_stops_no_others() {
        in_crowds(|crowd| {
            let (place, address) = (Place::new(), SocketAddr::from_abstract_name(name()).unwrap());
            let (_full, free) = (UnixDatagram::bind(&place.0).unwrap(), UnixDatagram::bind_addr(&address).unwrap());
            let socket = Arc::new(UnixDatagram::unbound().unwrap());
            socket.connect_addr(&address).unwrap();
            // It is known to its worker from here on.
            socket.set_read_timeout(Some(Duration::from_micros(1))).unwrap();
            assert!(socket.recv(&mut [0]).is_err());
            socket.set_write_timeout(Some(Duration::from_micros(1))).unwrap();
            while socket.send_to(b"x", &place.0).is_ok() {}
            socket.set_write_timeout(None).unwrap();
            let copy = socket.clone();
            let sender = crowd.spawn(1, move || (0..4).map(|_| copy.send(b"free").unwrap()).sum::<usize>());
            assert_eq!(sender.join(), 16);
            assert_eq!(free.recv(&mut [0; 8]).unwrap(), 4);
        });
    }

    /// The kernel lets a path be longer by one than std does.
    fn strange_senders_do_no_harm() {
        everywhere(|| {
            let (mut one, mut two) = (Place::new(), Place::new());
            for place in [&mut one, &mut two] {
                let padding = 108 - place.0.as_os_str().len();
                place.0 = format!("{}{}", place.0.display(), "x".repeat(padding)).into();
            }
            let address = SocketAddr::from_abstract_name(name()).unwrap();
            let ours = UnixDatagram::bind_addr(&address).unwrap();
            let theirs = socket(AddressFamily::UNIX, SocketType::DGRAM, None).unwrap();
            bind(&theirs, &SocketAddrUnix::new(&one.0).unwrap()).unwrap();
            std_net::UnixDatagram::from(theirs).send_to_addr(b"x", &address).unwrap();
            let (length, from) = ours.recv_from(&mut [0; 2]).unwrap();
            assert!(length == 1 && from.is_unnamed());
            let address = SocketAddr::from_abstract_name(name()).unwrap();
            let listener = UnixListener::bind_addr(&address).unwrap();
            let theirs = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
            bind(&theirs, &SocketAddrUnix::new(&two.0).unwrap()).unwrap();
            connect(&theirs, &SocketAddrUnix::new_abstract_name(address.as_abstract_name().unwrap()).unwrap()).unwrap();
            assert!(!listener.accept().unwrap().1.is_unnamed());
        });
    }

    fn close_ends_the_waits_of_others() {
        in_crowds(|crowd| {
            for number in 0..40 {
                let socket = Arc::new(UnixDatagram::unbound().unwrap());
                let copy = socket.clone();
                let waits = crowd.spawn(number, move || copy.recv_from(&mut [0]).unwrap_err().kind());
                // Of others it may come before they wait, while they try, or after.
                if number < 4 {
                    until_waiting(&waits);
                }
                socket.close();
                assert_eq!(waits.join(), ErrorKind::ConnectionAborted);
                assert_eq!(socket.send(b"x").unwrap_err().kind(), ErrorKind::ConnectionAborted);
            }
        });
    }

    /// Also those that wait for room, at the one that it is connected to and elsewhere.
    fn close_ends_the_waits_of_senders() {
        in_crowds(|crowd| {
            let place = Place::new();
            let _full = UnixDatagram::bind(&place.0).unwrap();
            let socket = UnixDatagram::unbound().unwrap();
            socket.connect(&place.0).unwrap();
            let (socket, path) = (Arc::new(socket), place.0.clone());
            let calls: [fn(&UnixDatagram, &Path) -> std::io::Result<usize>; 3] =
                [|socket, _| socket.send(b"x"), |socket, path| socket.send_to(b"x", path), |socket, _| socket.recv(&mut [0])];
            let waits: Vec<_> = (0..6)
                .map(|number| {
                    let (socket, path) = (socket.clone(), path.clone());
                    crowd.spawn(number / 3, move || loop {
                        if let Err(error) = calls[number % 3](&socket, &path) {
                            return error.kind();
                        }
                    })
                })
                .collect();
            waits.iter().for_each(until_waiting);
            socket.close();
            waits.into_iter().for_each(|member| assert_eq!(member.join(), ErrorKind::ConnectionAborted));
        });
    }

    fn what_is_set_comes_and_goes_with_it() {
        in_crowds(|_crowd| {
            let time = Some(Duration::from_millis(4));
            let socket = std_net::UnixDatagram::unbound().unwrap();
            socket.set_read_timeout(time).unwrap();
            let ours = UnixDatagram::from(socket);
            assert_eq!(ours.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            ours.set_read_timeout(None).unwrap();
            ours.set_nonblocking(true).unwrap();
            let text = format!("{ours:?}");
            let std = std_net::UnixDatagram::from(ours);
            assert_eq!((std.read_timeout().unwrap(), text), (None, format!("{std:?}")));
            assert_eq!(UnixDatagram::from(std).recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    }
}
