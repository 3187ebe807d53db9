//! Settings beyond std's, and socket2's.

use super::{alone, in_few_crowds, pair};
use crate::crowd::Crowd;
use sinew::net::{ListenOptions, TcpListener, TcpStream};
use sinew::os::linux::net::TcpStreamExt;
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

fn check_shared_ports(crowd: Crowd) {
    let options = ListenOptions::new().reuse_port(true).backlog(1_024);
    let first = options.bind("127.0.0.1:0").unwrap();
    let addr = first.local_addr().unwrap();
    let second = options.bind(addr).unwrap();
    assert!(
        rustix::net::sockopt::socket_reuseport(&first).unwrap()
            && SockRef::from(&first).reuse_address().unwrap()
    );
    assert_eq!(TcpListener::bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
    assert_eq!(ListenOptions::new().bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
    let (first, second) = (std::sync::Arc::new(first), std::sync::Arc::new(second));
    let serve = |listener: &std::sync::Arc<TcpListener>, number| {
        let listener = listener.clone();
        crowd.spawn(number, move || {
            listener.connections().map(|(stream, _)| { &stream }.write_all(b"x").unwrap()).count()
        })
    };
    let servers = [serve(&first, 0), serve(&second, 1)];
    for _ in 0..50 {
        let mut text = String::new();
        TcpStream::connect(addr).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }
    first.close();
    second.close();
    assert_eq!(servers.map(|server| server.join()).iter().sum::<usize>(), 50);
}

#[expect(deprecated, reason = "std has it")]
fn check_families(_crowd: Crowd) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(listener.set_only_v6(true).is_err());
    assert!(ListenOptions::new().only_v6(true).bind("127.0.0.1:0").is_err(), "that is not IPv6");
    // Where there is no IPv6 there is nothing more to be seen.
    let Ok(only) = ListenOptions::new().only_v6(true).bind("[::1]:0") else { return };
    let both = ListenOptions::default().only_v6(false).bind("[::]:0").unwrap();
    assert!(only.only_v6().unwrap() && !both.only_v6().unwrap());
    TcpStream::connect(("127.0.0.1", both.local_addr().unwrap().port())).unwrap();
    assert!(both.accept().unwrap().1.is_ipv6());
}

fn check_others(_crowd: Crowd) {
    let (here, there) = pair();
    for is_set in [true, false] {
        here.set_quickack(is_set).unwrap();
        assert_eq!(here.quickack().unwrap(), is_set);
    }
    SockRef::from(&here).set_keepalive(true).unwrap();
    SockRef::from(&here).set_linger(Some(Duration::ZERO)).unwrap();
    assert!(SockRef::from(&here).keepalive().unwrap());
    drop(here);
    assert_eq!({ &there }.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

alone! {
    fn several_listeners_share_a_port() {
        in_few_crowds(check_shared_ports);
    }

    fn families_are_kept_apart_or_not() {
        in_few_crowds(check_families);
    }

    fn other_options_are_set_through_the_descriptor() {
        in_few_crowds(check_others);
    }
}
