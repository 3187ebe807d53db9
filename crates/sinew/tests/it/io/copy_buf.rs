//! Copying from readers with a buffer.

use super::super::descriptors::is_cancel;
use super::super::support::{everywhere, pinned};
use sinew::fiber;
use sinew::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, Write};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes how much it is given at a time, and takes no more than it has room for.
#[derive(Default)]
struct Noted {
    sizes: Vec<usize>,
    all: Vec<u8>,
    room: Option<usize>,
}

impl Write for Noted {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.room.is_some_and(|room| self.all.len() >= room) {
            return Err(ErrorKind::StorageFull.into());
        }
        self.sizes.push(buf.len());
        self.all.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says that it was interrupted before each part.
struct Interrupted<R>(R, bool);

impl<R: Read> Read for Interrupted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(buf) }
    }
}

fn check() {
    let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    let copied = |reader: &mut dyn BufRead, sizes: &[usize]| {
        let mut noted = Noted::default();
        assert_eq!(io::copy_buf(reader, &mut noted).unwrap(), 300_000);
        assert!(noted.all == bytes && noted.sizes == sizes, "{:?}", noted.sizes);
    };
    copied(&mut BufReader::with_capacity(100_000, &bytes[..]), &[100_000; 3]);
    copied(&mut BufReader::with_capacity(100_000, Interrupted(&bytes[..], false)), &[100_000; 3]);
    copied(&mut &bytes[..], &[300_000]);
    copied(&mut Cursor::new(&bytes), &[300_000]);
    let mut queue = VecDeque::from(bytes[100_000..].to_vec());
    bytes[..100_000].iter().rev().for_each(|byte| queue.push_front(*byte));
    let (front, back) = (queue.as_slices().0.len(), queue.as_slices().1.len());
    let sizes = if back == 0 { vec![front] } else { vec![front, back] };
    copied(&mut queue, &sizes);
    assert!(queue.is_empty());
    // What is not written stays where it was.
    let mut reader = BufReader::with_capacity(100, &bytes[..]);
    let mut noted = Noted { room: Some(200), ..Noted::default() };
    assert_eq!(io::copy_buf(&mut reader, &mut noted).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!((noted.all.len(), reader.buffer()), (200, &bytes[200..300]));
}

#[test]
fn the_buffer_of_the_reader_is_used() {
    everywhere(check);
    check();
}

/// Never ends, and says that it was begun.
struct Endless(Arc<AtomicBool>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.store(true, Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn a_copy_without_waits_gives_way_and_can_be_stopped() {
    pinned(1).run(|| {
        let begun = Arc::new(AtomicBool::new(false));
        let flag = begun.clone();
        let copies = fiber::spawn(move || io::copy_buf(&mut BufReader::new(Endless(flag)), &mut io::sink()));
        while !begun.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        copies.cancel();
        assert!(is_cancel(&copies.join().unwrap().unwrap_err()));
    });
}
