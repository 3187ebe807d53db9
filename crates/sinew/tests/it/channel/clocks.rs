//! What comes by the clock. Nothing is said of how late it comes.

use super::as_crossbeam;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(1);

as_crossbeam! {
    fn one_message_comes_after_a_time(_crowd) {
        let start = Instant::now();
        let after = channel::after(SOON);
        let copy = after.clone();
        assert!(after.same_channel(&copy) && !after.same_channel(&channel::after(SOON)));
        assert!(after.recv().unwrap() >= start + SOON);
        assert!(Instant::now() >= start + SOON);
        assert!(copy.try_recv().unwrap_err().is_empty(), "it is received once, and nobody disconnects");
        assert!(after.recv_timeout(SOON).unwrap_err().is_timeout());
        assert_eq!((after.is_empty(), after.len()), (true, 0));
        assert!(channel::after(Duration::ZERO).recv().unwrap() >= start);
        assert_eq!(channel::after(Duration::ZERO).try_iter().count(), 1);
    }

    fn one_message_comes_at_a_moment(_crowd) {
        let when = Instant::now() + SOON;
        let at = channel::at(when);
        assert_eq!((at.capacity(), at.recv()), (Some(1), Ok(when)));
        let past = Instant::now();
        let at = channel::at(past);
        assert_eq!((at.len(), at.is_full(), at.is_empty()), (1, true, false));
        assert_eq!((at.recv_deadline(past), at.try_recv().is_err()), (Ok(past), true));
    }

    fn ticks_come_again_and_again(crowd) {
        let ticks = channel::tick(SOON);
        assert_eq!((ticks.capacity(), ticks.clone().same_channel(&ticks)), (Some(1), true));
        let copy = ticks.clone();
        let others = crowd.spawn(1, move || copy.iter().take(3).collect::<Vec<_>>());
        let mut all: Vec<_> = ticks.iter().take(3).collect();
        assert!(all.is_sorted());
        all.append(&mut others.join());
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6, "each is received once");
        assert!(channel::tick(Duration::ZERO).iter().take(100).is_sorted());
    }

    fn never_is_never(_crowd) {
        let never = channel::never::<u8>();
        assert_eq!((never.capacity(), never.len(), never.is_full(), never.is_empty()), (Some(0), 0, true, true));
        assert!(never.try_recv().unwrap_err().is_empty());
        assert!(never.recv_timeout(SOON).unwrap_err().is_timeout());
        assert!(never.recv_deadline(Instant::now()).unwrap_err().is_timeout());
        assert!(never.same_channel(&channel::never()));
        assert_eq!(never.try_iter().next(), None);
    }

    fn times_beyond_the_end_of_the_clock_never_come(_crowd) {
        for receiver in [channel::after(Duration::MAX), channel::tick(Duration::MAX)] {
            assert!(receiver.try_recv().unwrap_err().is_empty());
            assert!(receiver.recv_timeout(SOON).unwrap_err().is_timeout());
        }
        // Only the second one is beyond it.
        let far = channel::at(Instant::now() + Duration::from_secs(1 << 32));
        assert!(far.recv_timeout(Duration::ZERO).unwrap_err().is_timeout());
    }

    fn selects_wait_for_the_clock(crowd) {
        let (sender, receiver) = channel::unbounded();
        let ticks = channel::tick(Duration::from_micros(200));
        let (mut ticked, mut got, never) = (0, 0, channel::never::<u8>());
        let sends = crowd.spawn(1, move || (0..5).for_each(|number| sender.send(number).unwrap()));
        while ticked < 5 || got < 5 {
            channel::select! {
                recv(ticks) -> tick => { tick.unwrap(); ticked += 1 }
                recv(receiver) -> number => match number {
                    Ok(_) => got += 1,
                    Err(_) => { ticks.recv().unwrap(); ticked += 1 }
                },
                recv(never) -> _ => unreachable!(),
            }
        }
        sends.join();
        let start = Instant::now();
        let (_keep, silent) = channel::bounded::<u8>(0);
        let [soon, late, too_late] = [SOON, Duration::from_secs(60), Duration::MAX].map(channel::after);
        let came = channel::select! {
            recv(silent) -> _ => unreachable!(),
            recv(soon) -> came => came.unwrap(),
            recv(late) -> _ => unreachable!(),
            recv(too_late) -> _ => unreachable!(),
        };
        assert!(came >= start + SOON);
        let (after, never) = (channel::after(SOON), channel::never::<u8>());
        let mut select = channel::Select::new();
        assert_eq!((select.recv(&never), select.recv(&after)), (0, 1));
        assert_eq!(select.ready(), 1);
        assert!(select.select().recv(&after).is_ok());
        assert!(select.ready_timeout(SOON).is_err() && select.select_timeout(SOON).is_err());
    }
}
