//! A hand-written event loop, one for each thread, with a listener of its own: what no runtime can do without. Connections are
//! registered once and edge-triggered, and a read that does not fill its buffer has found all there is, so that a request takes one
//! `recv`, one `send` and its part of an `epoll_wait`.

use super::talk::Talk;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// What a look at events takes at most at a time.
const EVENTS: usize = 256;

/// Serves what comes to this listener, for ever. Where there is nothing to do it looks again and again for as long as `spin` says,
/// and then sleeps.
pub(super) fn serve(listener: TcpListener, spin: Duration) -> ! {
    let mut events = Vec::with_capacity(EVENTS);
    let mut server = Loop::new(listener).expect("a descriptor for events");
    loop {
        events.clear();
        server.wait(&mut events, spin);
        for event in &events {
            server.handle(event.data.u64());
        }
    }
}

struct Loop {
    epoll: OwnedFd,
    listener: TcpListener,
    /// By the number of the descriptor.
    connections: Vec<Option<Box<Connection>>>,
}

struct Connection {
    stream: TcpStream,
    talk: Talk,
}

impl Loop {
    fn new(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, token(&listener), EventFlags::IN)?;
        Ok(Self { epoll, listener, connections: Vec::new() })
    }

    /// Waits until there are events.
    fn wait(&self, events: &mut Vec<Event>, spin: Duration) {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !spin.is_zero() {
            let begun = Instant::now();
            while events.is_empty() && begun.elapsed() < spin {
                self.look(events, Some(&AT_ONCE));
            }
        }
        if events.is_empty() {
            self.look(events, None);
        }
    }

    fn look(&self, events: &mut Vec<Event>, timeout: Option<&Timespec>) {
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("cannot wait for events: {error}"),
        }
    }

    fn handle(&mut self, number: u64) {
        if number == self.listener.as_raw_fd() as u64 {
            return self.accept();
        }
        let place = &mut self.connections[number as usize];
        let connection = place.as_mut().expect("who is registered is there");
        if !connection.is_kept() {
            // Closing it also takes it off the list of those that are watched.
            *place = None;
        }
    }

    /// Accepts all who are there.
    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            self.add(stream).expect("it can be watched");
        }
    }

    fn add(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &stream, token(&stream), flags)?;
        let number = stream.as_raw_fd() as usize;
        if self.connections.len() <= number {
            self.connections.resize_with(number + 1, || None);
        }
        self.connections[number] = Some(Box::new(Connection { stream, talk: Talk::new() }));
        Ok(())
    }
}

/// What is told with an event: the number of the descriptor.
fn token(source: &impl AsRawFd) -> EventData {
    EventData::new_u64(source.as_raw_fd() as u64)
}

impl Connection {
    /// Reads and answers all there is. Says whether the connection goes on.
    fn is_kept(&mut self) -> bool {
        loop {
            let room = self.talk.room();
            let whole = room.len();
            match self.stream.read(room) {
                Ok(0) => return false,
                Ok(bytes) => {
                    let answers = self.talk.received(bytes);
                    // The kernel takes them whole, unless the client does not read: that one is not kept.
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
