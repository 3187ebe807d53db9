//! The two crates through which a loop may ask the kernel for events: rustix, as the library does,
//! and mio, so that the choice is measured. Each watches a descriptor for edges from one
//! registration on, and reports it by its number.

use mio::unix::SourceFd;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// The largest number of events that one call returns.
const EVENTS: usize = 256;

/// Descriptors that are watched until they are closed.
pub(super) trait Watch: Sized {
    fn new() -> io::Result<Self>;

    fn add(&self, source: &(impl AsFd + AsRawFd)) -> io::Result<()>;

    /// Waits for events, at most for `at_most`.
    fn wait(&mut self, at_most: Option<Duration>);

    /// Returns the numbers of the descriptors that the last wait reported.
    fn told(&self) -> impl Iterator<Item = usize>;
}

/// Through rustix.
pub(super) struct Rustix {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Watch for Rustix {
    fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(EVENTS) })
    }

    fn add(&self, source: &(impl AsFd + AsRawFd)) -> io::Result<()> {
        let data = EventData::new_u64(source.as_raw_fd() as u64);
        Ok(epoll::add(&self.epoll, source, data, EventFlags::IN | EventFlags::RDHUP | EventFlags::ET)?)
    }

    fn wait(&mut self, at_most: Option<Duration>) {
        self.events.clear();
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("cannot wait for events: {error}"),
        }
    }

    fn told(&self) -> impl Iterator<Item = usize> {
        self.events.iter().map(|event| event.data.u64() as usize)
    }
}

/// Through mio.
pub(super) struct Mio {
    poll: mio::Poll,
    events: mio::Events,
}

impl Watch for Mio {
    fn new() -> io::Result<Self> {
        Ok(Self { poll: mio::Poll::new()?, events: mio::Events::with_capacity(EVENTS) })
    }

    fn add(&self, source: &(impl AsFd + AsRawFd)) -> io::Result<()> {
        let number = source.as_raw_fd();
        let mut source = SourceFd(&number);
        self.poll.registry().register(&mut source, mio::Token(number as usize), mio::Interest::READABLE)
    }

    fn wait(&mut self, at_most: Option<Duration>) {
        match self.poll.poll(&mut self.events, at_most) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => panic!("cannot wait for events: {error}"),
        }
    }

    fn told(&self) -> impl Iterator<Item = usize> {
        self.events.iter().map(|event| event.token().0)
    }
}
