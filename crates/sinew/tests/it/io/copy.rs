//! Copying.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alike, alone, is_cancel, until_waiting};
use super::super::support::pinned;
use sinew::fiber::{self, CancelToken};
use std::io::{Cursor, ErrorKind, Read, Write};
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
            let copying = fiber::spawn(|| sinew::io::copy(&mut sinew::io::repeat(1), &mut sinew::io::sink()));
            let others = Arc::new(AtomicBool::new(false));
            let flag = others.clone();
            fiber::spawn(move || flag.store(true, Ordering::Relaxed)).join().unwrap();
            assert!(others.load(Ordering::Relaxed) && !copying.is_finished());
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
}
