//! A hand-written event loop, one for each thread, with a listener of its own: the least that every
//! runtime must do. Connections are registered once and edge-triggered. A read that does not fill
//! its buffer has found all there is, so a request takes one `recv`, one `send` and its part of an
//! `epoll_wait`. The caller chooses the crate through which it asks the kernel for events.

use super::talk::Talk;
use super::watch::Watch;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Serves this listener for ever. Without work it searches for events for as long as `spin` says,
/// and then sleeps.
pub(super) fn serve<W: Watch>(listener: TcpListener, spin: Duration) -> ! {
    let mut watch = W::new().expect("a descriptor for events");
    let mut server = Loop::new(&watch, listener).expect("it can be watched");
    loop {
        wait(&mut watch, spin);
        for number in watch.told() {
            server.handle(&watch, number);
        }
    }
}

/// Waits until there are events.
fn wait(watch: &mut impl Watch, spin: Duration) {
    if !spin.is_zero() {
        let begun = Instant::now();
        while begun.elapsed() < spin {
            watch.wait(Some(Duration::ZERO));
            if watch.told().next().is_some() {
                return;
            }
        }
    }
    watch.wait(None);
}

struct Loop {
    listener: TcpListener,
    /// By the number of the descriptor.
    connections: Vec<Option<Box<Connection>>>,
}

struct Connection {
    stream: TcpStream,
    talk: Talk,
}

impl Loop {
    fn new(watch: &impl Watch, listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        watch.add(&listener)?;
        Ok(Self { listener, connections: Vec::new() })
    }

    fn handle(&mut self, watch: &impl Watch, number: usize) {
        if number == self.listener.as_raw_fd() as usize {
            return self.accept(watch);
        }
        let place = &mut self.connections[number];
        let connection = place.as_mut().expect("a registered descriptor has a connection");
        if !connection.is_kept() {
            // Closing it also removes it from the set of watched descriptors.
            *place = None;
        }
    }

    /// Accepts all clients that wait.
    fn accept(&mut self, watch: &impl Watch) {
        while let Ok((stream, _)) = self.listener.accept() {
            self.add(watch, stream).expect("it can be watched");
        }
    }

    fn add(&mut self, watch: &impl Watch, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        watch.add(&stream)?;
        let number = stream.as_raw_fd() as usize;
        if self.connections.len() <= number {
            self.connections.resize_with(number + 1, || None);
        }
        self.connections[number] = Some(Box::new(Connection { stream, talk: Talk::new() }));
        Ok(())
    }
}

impl Connection {
    /// Reads and answers all requests that have come. Returns whether the connection continues.
    fn is_kept(&mut self) -> bool {
        loop {
            let room = self.talk.room();
            let whole = room.len();
            match self.stream.read(room) {
                Ok(0) => return false,
                Ok(bytes) => {
                    let answers = self.talk.received(bytes);
                    // The kernel takes all bytes, unless the client does not read. Such a
                    // connection is closed.
                    if !answers.is_empty() && !self.stream.write(answers).is_ok_and(|n| n == answers.len()) {
                        return false;
                    }
                    if bytes < whole {
                        return true;
                    }
                }
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }
}
