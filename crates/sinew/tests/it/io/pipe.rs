//! Pipes.

use super::super::crowd::in_crowds;
use super::super::descriptors::{alike, alone, is_cancel, is_deadline, until_waiting};
use super::super::support::everywhere;
use rustix::fs::{OFlags, fcntl_getfl};
use sinew::fiber::CancelToken;
use sinew::io::{self as ours, PipeReader, PipeWriter};
use sinew::time;
use std::io::{BufRead, BufReader, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

alike! {
    /// However little room there is at a time.
    fn a_call_writes_all_of_it(crowd) {
        let (mut reader, mut writer) = io::pipe().unwrap();
        let bytes: Vec<u8> = (0..1_000_000).map(|at| at as u8).collect();
        let expected = [&bytes[..], &bytes].concat();
        let reads = crowd.spawn(1, move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            read
        });
        assert_eq!(writer.write(&bytes).unwrap(), bytes.len());
        let (one, two) = bytes.split_at(70_000);
        let slices = [one, &[], two].map(IoSlice::new);
        assert_eq!(writer.write_vectored(&slices).unwrap(), bytes.len());
        drop(writer);
        assert!(reads.join() == expected);
    }

    fn bytes_arrive_in_order_and_end(crowd) {
        let (mut reader, mut writer) = io::pipe().unwrap();
        // Far more than a pipe has room for.
        let bytes: Vec<u8> = (0..500_000_u32).map(|at| (at % 251) as u8).collect();
        let copy = bytes.clone();
        let write = crowd.spawn(1, move || writer.write_all(&copy).unwrap());
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert!(all == bytes);
        write.join();
    }

    fn the_end_of_either_side_is_told(crowd) {
        let (mut reader, writer) = io::pipe().unwrap();
        let copy = writer.try_clone().unwrap();
        let ends = crowd.spawn(1, move || reader.read(&mut [0]).unwrap());
        until_waiting(&ends);
        drop(writer);
        assert_eq!((&copy).write(b"x").unwrap(), 1);
        assert_eq!(ends.join(), 1);
        assert_eq!((&copy).write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (mut reader, writer) = io::pipe().unwrap();
        let ends = crowd.spawn(1, move || reader.read(&mut [0]).unwrap());
        until_waiting(&ends);
        drop(writer);
        assert_eq!(ends.join(), 0);
        let (reader, writer) = io::pipe().unwrap();
        let blocked = crowd.spawn(1, move || {
            let all = (&writer).write_all(&[0; 200_000]);
            all.unwrap_err().kind()
        });
        until_waiting(&blocked);
        drop(reader);
        assert_eq!(blocked.join(), ErrorKind::BrokenPipe);
    }

    /// The bytes of one short write stay together, with fibers and threads as writers.
    fn short_writes_stay_together(crowd) {
        let (reader, writer) = io::pipe().unwrap();
        let writers: Vec<_> = (0..4_u8)
            .map(|number| {
                let writer = writer.try_clone().unwrap();
                crowd.spawn(usize::from(number), move || {
                    (0..50).for_each(|_| assert_eq!((&writer).write(&[number; 4_096]).unwrap(), 4_096));
                })
            })
            .collect();
        drop(writer);
        let mut reader = BufReader::with_capacity(4_096, reader);
        let (mut count, mut block) = (0, [0; 4_096]);
        while !reader.fill_buf().unwrap().is_empty() {
            reader.read_exact(&mut block).unwrap();
            assert!(block.iter().all(|byte| *byte == block[0]));
            count += 1;
        }
        writers.into_iter().for_each(|writer| writer.join());
        assert_eq!(count, 200);
    }

    fn many_read_from_one(crowd) {
        let (reader, writer) = io::pipe().unwrap();
        let readers: Vec<_> = (0..6)
            .map(|number| {
                let reader = reader.try_clone().unwrap();
                crowd.spawn(number, move || {
                    let mut byte = [0];
                    (&reader).read_exact(&mut byte).unwrap();
                    usize::from(byte[0])
                })
            })
            .collect();
        readers.iter().for_each(until_waiting);
        (&writer).write_all(&[1, 2, 3]).unwrap();
        assert_eq!((&writer).write_vectored(&[IoSlice::new(&[4]), IoSlice::new(&[5, 6])]).unwrap(), 3);
        assert_eq!(readers.into_iter().map(|reader| reader.join()).sum::<usize>(), 21);
        drop(writer);
        assert_eq!((&reader).read_vectored(&mut [IoSliceMut::new(&mut [0])]).unwrap(), 0);
    }
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

alone! {
    /// A read or write of no bytes does not wait, even if there is no room and no data.
    fn nothing_to_move_is_nothing_to_wait_for() {
        in_crowds(|_crowd| {
            let (reader, writer) = ours::pipe().unwrap();
            let soon = Duration::from_millis(1);
            assert!(is_deadline(&time::timeout(soon, || (&reader).read(&mut [0])).unwrap_err()));
            assert_eq!(((&reader).read(&mut []).unwrap(), (&reader).read_vectored(&mut []).unwrap()), (0, 0));
            assert!(is_deadline(&time::timeout(soon, || (&writer).write_all(&[0; 200_000])).unwrap_err()));
            assert_eq!(((&writer).write(&[]).unwrap(), (&writer).write_vectored(&[IoSlice::new(&[])]).unwrap()), (0, 0));
            drop(reader);
        });
    }

    fn a_stop_ends_all_waits() {
        in_crowds(|crowd| {
            let waits: [fn() -> std::io::Result<()>; 2] = [
                || {
                    let (mut reader, _writer) = ours::pipe()?;
                    reader.read(&mut [0]).map(drop)
                },
                || {
                    let (_reader, mut writer) = ours::pipe()?;
                    writer.write_all(&[0; 200_000])
                },
            ];
            for (number, wait) in waits.into_iter().enumerate() {
                let token = CancelToken::new();
                let copy = token.clone();
                let member = crowd.spawn(number, move || copy.run(wait));
                until_waiting(&member);
                token.cancel();
                assert!(is_cancel(&member.join().unwrap_err()));
                let member = crowd.spawn(number, move || time::timeout(Duration::from_millis(2), wait));
                assert!(is_deadline(&member.join().unwrap_err()));
            }
        });
    }

    fn it_becomes_what_it_was() {
        everywhere(|| {
            let (reader, writer) = ours::pipe().unwrap();
            assert!(is_nonblocking(&reader) && is_nonblocking(&writer));
            let (text, copy) = (format!("{reader:?} {writer:?}"), writer.try_clone().unwrap());
            let (reader, writer) = (std::io::PipeReader::from(reader), std::io::PipeWriter::from(writer));
            assert_eq!(text, format!("{reader:?} {writer:?}"));
            assert!(!is_nonblocking(&reader) && is_nonblocking(&writer), "a clone is ours still");
            let copy = OwnedFd::from(copy);
            assert!(!is_nonblocking(&writer) && !is_nonblocking(&copy));
            rustix::io::ioctl_fionbio(&reader, true).unwrap();
            let mut ours = PipeReader::from(reader);
            assert_eq!(ours.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "as it was before");
            let number = ours.as_raw_fd();
            let fd = OwnedFd::from(ours);
            assert!(is_nonblocking(&fd) && fd.as_raw_fd() == number);
        });
    }

    fn children_are_talked_to() {
        everywhere(|| {
            let mut child =
                Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut input = PipeWriter::from(child.stdin.take().unwrap());
            let output = PipeReader::from(child.stdout.take().unwrap());
            let errors = PipeReader::from(child.stderr.take().unwrap());
            let writer = sinew::fiber::spawn(move || input.write_all(&[b'x'; 200_000]));
            assert_eq!(ours::read_to_string(output).unwrap().len(), 200_000);
            assert_eq!(ours::read_to_string(errors).unwrap(), "");
            writer.join().unwrap().unwrap();
            child.wait().unwrap();
        });
    }

    /// A child whose output is ours finds that it waits, though ours did not.
    fn children_inherit_ends_that_wait() {
        everywhere(|| {
            let (reader, writer) = ours::pipe().unwrap();
            let errors = writer.try_clone().unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", "grep -h flags /proc/self/fdinfo/1 /proc/$$/fdinfo/2"]).stdin(Stdio::null());
            let mut child = command.stdout(writer).stderr(errors).spawn().unwrap();
            drop(command);
            let flags: Vec<_> = BufReader::new(reader).lines().map(Result::unwrap).collect();
            child.wait().unwrap();
            assert_eq!(flags.len(), 2, "{flags:?}");
            for line in flags {
                let octal = line.split_whitespace().last().unwrap();
                assert_eq!(i32::from_str_radix(octal, 8).unwrap() & 0o4000, 0, "{line}");
            }
        });
    }
}
