//! Copying.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alike, alone, is_cancel, until_waiting};
use super::super::support::pinned;
use sinew::fiber::{self, CancelToken};
use sinew::os::unix::net::UnixStream;
use std::io::{Cursor, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fails now and then, as if by signals, and in the end.
struct Shaky(u32);

impl Read for Shaky {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0 += 1;
        match self.0 {
            1_000 => Err(ErrorKind::InvalidData.into()),
            number if number % 3 == 0 => Err(ErrorKind::Interrupted.into()),
            _ => {
                buffer[0] = 7;
                Ok(1)
            }
        }
    }
}

/// Never ends, and says that it was begun.
struct Endless(Arc<AtomicBool>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.store(true, Ordering::Relaxed);
        Ok(buffer.len())
    }
}

alike! {
    fn all_is_copied(crowd) {
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        let (mut reader, mut writer) = io::pipe().unwrap();
        let copy = bytes.clone();
        let writes = crowd.spawn(1, move || io::copy(&mut Cursor::new(copy), &mut writer).unwrap());
        let (mut one, mut other) = net::UnixStream::pair().unwrap();
        let passes = crowd.spawn(0, move || io::copy(&mut reader, &mut one).unwrap());
        let mut all = Vec::new();
        assert_eq!(io::copy(&mut other, &mut all).unwrap(), 300_000);
        assert!(all == bytes);
        assert_eq!((writes.join(), passes.join()), (300_000, 300_000));
    }

    fn errors_end_it_but_interruptions_do_not(_crowd) {
        let mut all = Vec::new();
        assert_eq!(io::copy(&mut Shaky(0), &mut all).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(all.len(), 999 - 333);
        let small = &mut [0_u8; 10][..];
        assert_eq!(io::copy(&mut &[1_u8; 20][..], &mut { small }).unwrap_err().kind(), ErrorKind::WriteZero);
        let dynamic: &mut dyn Read = &mut &b"abc"[..];
        let sink: &mut dyn Write = &mut io::sink();
        assert_eq!(io::copy(dynamic, sink).unwrap(), 3);
    }
}

alone! {
    /// Neither end ever waits.
    fn others_run_meanwhile_and_can_stop_it() {
        pinned(1).run(|| {
            let begun = Arc::new(AtomicBool::new(false));
            let mut endless = Endless(begun.clone());
            let copying = fiber::spawn(move || sinew::io::copy(&mut endless, &mut sinew::io::sink()));
            while !begun.load(Ordering::Relaxed) {
                fiber::yield_now();
            }
            assert!(!copying.is_finished());
            copying.cancel();
            assert!(is_cancel(&copying.join().unwrap().unwrap_err()));
            fiber::no_suspend(|| sinew::io::copy(&mut sinew::io::repeat(1).take(9 << 20), &mut sinew::io::sink()).unwrap());
        });
        in_crowds(|crowd| {
            let token = CancelToken::new();
            let copy = token.clone();
            let copying = crowd.spawn(1, move || {
                let (mut reader, _writer) = sinew::io::pipe()?;
                copy.run(|| sinew::io::copy(&mut reader, &mut Vec::new()))
            });
            until_waiting(&copying);
            token.cancel();
            assert!(is_cancel(&copying.join().unwrap_err()));
        });
    }

    /// Each direction ends by itself, and both with the first failure.
    fn both_ways_end_as_they_must() {
        in_crowds(|crowd| {
            let (mut client, one) = UnixStream::pair().unwrap();
            let (two, mut server) = UnixStream::pair().unwrap();
            let proxy = crowd.spawn(1, move || sinew::io::copy_bidirectional(&one, &two).unwrap());
            let sender = client.try_clone().unwrap();
            let sends = crowd.spawn(0, move || {
                (&sender).write_all(&[1; 300_000]).unwrap();
                sender.shutdown(Shutdown::Write).unwrap();
            });
            let mut all = Vec::new();
            server.read_to_end(&mut all).unwrap();
            assert!(all == [1; 300_000] && !proxy.is_finished());
            server.write_all(b"answer").unwrap();
            drop(server);
            all.clear();
            client.read_to_end(&mut all).unwrap();
            assert_eq!((&*all, proxy.join()), (&b"answer"[..], (300_000, 6)));
            sends.join();

            let (mut client, one) = UnixStream::pair().unwrap();
            let (two, server) = UnixStream::pair().unwrap();
            let proxy = crowd.spawn(1, move || sinew::io::copy_bidirectional(&one, &two).unwrap_err().kind());
            until_waiting(&proxy);
            server.shutdown(Shutdown::Read).unwrap();
            client.write_all(b"to nobody").unwrap();
            assert_eq!(proxy.join(), ErrorKind::BrokenPipe);

            let ((one, _client), (two, _server)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
            let token = CancelToken::new();
            let copy = token.clone();
            let proxy = crowd.spawn(1, move || copy.run(|| sinew::io::copy_bidirectional(&one, &two)));
            until_waiting(&proxy);
            token.cancel();
            assert!(is_cancel(&proxy.join().unwrap_err()));
        });
    }
}
