//! Stopped calls report the place of their caller.

use super::super::descriptors::alone;
use sinew::fiber::{self, CancelToken, State, Stopped};
use sinew::io::{self, Fd, Read, Write};
use sinew::net::{TcpListener, TcpStream};
use sinew::os::unix::net::UnixStream;

/// Calls each of these with a token that is cancelled: all name this file.
macro_rules! named {
    ($($call:expr),* $(,)?) => {{
        let token = CancelToken::new();
        token.cancel();
        $({
            here(token.run(|| $call.map(drop)), stringify!($call));
        })*
    }};
}

fn here(result: io::Result<()>, call: &str) {
    let stopped = result.unwrap_err().downcast::<Stopped>().unwrap();
    assert_eq!(stopped.at().file(), file!(), "{call}");
}

fn fd(stream: UnixStream) -> Fd<std::os::unix::net::UnixStream> {
    Fd::new(stream.into()).unwrap()
}

alone! {
    fn calls_of_several_steps_name_their_caller() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut tcp = TcpStream::connect(address).unwrap();
        let (mut unix, other) = UnixStream::pair().unwrap();
        let (mut reader, mut writer) = io::pipe().unwrap();
        let mut fd = fd(other);
        let buf = &mut [0; 4];
        named!(
            TcpStream::connect(address),
            TcpStream::connect(&[address][..]),
            TcpStream::connect("localhost:1"),
            tcp.write_all(b"x"),
            (&tcp).write_all(b"x"),
            tcp.read_exact(buf),
            (&tcp).read_exact(buf),
            unix.write_all(b"x"),
            (&unix).write_all(b"x"),
            unix.read_exact(buf),
            (&unix).read_exact(buf),
            fd.write_all(b"x"),
            (&fd).write_all(b"x"),
            fd.read_exact(buf),
            (&fd).read_exact(buf),
            writer.write_all(b"x"),
            (&writer).write_all(b"x"),
            reader.read_exact(buf),
            (&reader).read_exact(buf),
            io::copy(&mut tcp, &mut unix),
            io::copy_bidirectional(&tcp, &unix),
        );
    }

    /// Whichever direction is the first to hear of it.
    fn copying_both_ways_names_its_caller_also_when_it_waits() {
        let ((one, _client), (two, _server)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let copying = fiber::spawn(move || io::copy_bidirectional(&one, &two));
        while copying.thread().state() != State::Parked {
            fiber::yield_now();
        }
        copying.cancel();
        here(copying.join().unwrap().map(drop), "copy_bidirectional");
    }
}
