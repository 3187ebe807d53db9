//! What the bodies of arms may do with what the handles were taken from: they are no longer
//! borrowed.

use super::as_crossbeam;
use std::time::Duration;

as_crossbeam! {
    fn a_body_may_use_what_a_handle_is_part_of(_crowd) {
        struct Loop {
            quit: channel::Receiver<()>,
            numbers: channel::Receiver<u32>,
            sum: u32,
            is_over: bool,
        }
        impl Loop {
            fn step(&mut self) {
                channel::select! {
                    recv(self.numbers) -> number => match number {
                        Ok(number) => self.add(number),
                        Err(_) => self.numbers = channel::never(),
                    },
                    recv(self.quit) -> _ => self.end(),
                    default(Duration::from_secs(60)) => self.end(),
                }
            }
            fn add(&mut self, number: u32) {
                self.sum += number;
            }
            fn end(&mut self) {
                self.is_over = true;
            }
        }
        let (quits, quit) = channel::bounded(0);
        let (sender, numbers) = channel::unbounded();
        (1..=4).for_each(|number| sender.send(number).unwrap());
        let mut this = Loop { quit, numbers, sum: 0, is_over: false };
        (0..4).for_each(|_| this.step());
        // What has ended is not looked at again.
        drop(sender);
        this.step();
        drop(quits);
        this.step();
        assert!(this.is_over && this.sum == 10);
    }

    fn a_body_may_change_or_drop_a_handle(_crowd) {
        let (sender, receiver) = channel::bounded::<u8>(1);
        let mut sender = Some(sender);
        channel::select! {
            send(sender.as_ref().unwrap(), 3) -> sent => {
                sent.unwrap();
                sender = None;
            }
            recv(receiver) -> _ => unreachable!(),
        }
        assert!(sender.is_none());
        let taken = channel::select_biased! {
            recv(receiver) -> got => {
                drop(receiver);
                got
            }
            default => {
                drop(receiver);
                Ok(9)
            }
        };
        assert_eq!(taken, Ok(3));

        let (_sender, receiver) = channel::bounded::<u8>(1);
        channel::select! {
            recv(receiver) -> _ => unreachable!(),
            default => drop(receiver),
        }
        let (sender, mut receiver) = channel::bounded::<u8>(1);
        drop(sender);
        let mut ends = 0;
        for _ in 0..3 {
            channel::select! {
                recv(receiver) -> got => {
                    assert!(got.is_err());
                    receiver = channel::never();
                    ends += 1;
                }
                default(Duration::ZERO) => receiver = channel::never(),
            }
        }
        assert_eq!(ends, 1);
    }
}
