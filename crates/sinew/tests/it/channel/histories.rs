//! Histories of small runs are recorded, and checked: there is an order of the operations, in which
//! each lies between its call and its return, that a queue with this bound allows. The search is
//! Wing and Gong's.

use super::super::support::Random;
use super::as_crossbeam;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// For how long one waits who may wait in vain.
const WHILE: Duration = Duration::from_micros(200);

/// What was done, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Sent(u32),
    /// The same by a select, which has kept a place for it before.
    Selected(u32),
    /// By trying: there was no room.
    Full,
    Received(u32),
    /// By trying: there was no message.
    Empty,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    called: usize,
    returned: usize,
    event: Event,
}

/// Notes what happens, by a clock that all share.
#[derive(Clone)]
struct Record(Arc<AtomicUsize>);

impl Record {
    /// What came to nothing when its time was over is none.
    fn call(&self, body: impl FnOnce() -> Option<Event>) -> Option<Call> {
        // Sequentially consistent: what returned before another one was called has the smaller
        // number.
        let called = self.0.fetch_add(1, Ordering::SeqCst);
        let event = body()?;
        Some(Call { called, returned: self.0.fetch_add(1, Ordering::SeqCst), event })
    }
}

/// Whether a queue with this bound allows it. With 0, a message is received in the moment in which
/// it is sent.
struct Search<'a> {
    calls: &'a [Call],
    bound: usize,
    seen: HashSet<(u32, VecDeque<u32>)>,
}

impl Search<'_> {
    fn allows(&mut self, done: u32, queue: &VecDeque<u32>) -> bool {
        if done.count_ones() as usize == self.calls.len() {
            return true;
        }
        if !self.seen.insert((done, queue.clone())) {
            return false;
        }
        let left = |index: usize| done & 1 << index == 0;
        let indices = 0..self.calls.len();
        let first_return = indices.clone().filter(|i| left(*i)).map(|i| self.calls[i].returned).min();
        let next: Vec<_> =
            indices.filter(|i| left(*i) && Some(self.calls[*i].called) < first_return).collect();
        next.iter().any(|index| self.goes_on(done, queue, *index, &next))
    }

    /// How many may have kept a place, and have no message there yet.
    fn kept(&self, next: &[usize]) -> usize {
        next.iter().filter(|index| matches!(self.calls[**index].event, Event::Selected(_))).count()
    }

    fn goes_on(&mut self, done: u32, queue: &VecDeque<u32>, index: usize, next: &[usize]) -> bool {
        let (mut after, done) = (queue.clone(), done | 1 << index);
        match self.calls[index].event {
            // A send and its receive happen at one moment, at which both calls must be under way.
            Event::Sent(message) | Event::Selected(message) if self.bound == 0 => {
                let meets = |other: &&usize| self.calls[**other].event == Event::Received(message);
                let other = next.iter().find(meets).copied();
                return other.is_some_and(|other| self.allows(done | 1 << other, queue));
            }
            Event::Received(_) if self.bound == 0 => return false,
            // The history does not tell whether a waiter was at the other end.
            Event::Full | Event::Empty if self.bound == 0 => {}
            Event::Sent(message) | Event::Selected(message) if queue.len() < self.bound => {
                after.push_back(message)
            }
            Event::Received(message) if queue.front() == Some(&message) => _ = after.pop_front(),
            Event::Full if queue.len() + self.kept(next) >= self.bound => {}
            Event::Empty if queue.is_empty() => {}
            _ => return false,
        }
        self.allows(done, &after)
    }
}

fn is_allowed(calls: &[Call], bound: usize) -> bool {
    assert!(calls.len() <= 32);
    Search { calls, bound, seen: HashSet::new() }.allows(0, &VecDeque::new())
}

as_crossbeam! {
    fn histories_are_those_of_a_queue(crowd) {
        for bound in [None, Some(0), Some(1), Some(2)] {
            for seed in 0..12 {
                let (sender, receiver) = bound.map_or_else(channel::unbounded, channel::bounded);
                let record = Record(Arc::default());
                let histories = crowd.all(4, move |number| {
                    let mut random = Random::new(seed * 4 + number as u64 + 1);
                    let (sender, receiver) = (&sender, &receiver);
                    let send = |message, kind| match kind {
                        0 => sender.send_timeout(message, WHILE).ok().map(|()| Event::Sent(message)),
                        1 => channel::select! {
                            send(sender, message) -> sent => { sent.unwrap(); Some(Event::Selected(message)) }
                            default(WHILE) => None,
                        },
                        2 => Some(sender.try_send(message).map_or(Event::Full, |()| Event::Sent(message))),
                        _ => channel::select! {
                            send(sender, message) -> sent => { sent.unwrap(); Some(Event::Selected(message)) }
                            default => Some(Event::Full),
                        },
                    };
                    let receive = |kind| match kind {
                        0 => receiver.recv_timeout(WHILE).ok().map(Event::Received),
                        1 => channel::select! {
                            recv(receiver) -> got => Some(Event::Received(got.unwrap())),
                            default(WHILE) => None,
                        },
                        2 => Some(receiver.try_recv().map_or(Event::Empty, Event::Received)),
                        _ => channel::select! {
                            recv(receiver) -> got => Some(Event::Received(got.unwrap())),
                            default => Some(Event::Empty),
                        },
                    };
                    let one = |round: u32| {
                        let (message, kind) = (number as u32 * 100 + round, random.below(4));
                        (0..random.below(3)).for_each(|_| sinew::fiber::yield_now());
                        record.call(|| if number % 2 == 0 { send(message, kind) } else { receive(kind) })
                    };
                    (0..3).filter_map(one).collect::<Vec<_>>()
                });
                let calls = histories.concat();
                assert!(is_allowed(&calls, bound.unwrap_or(usize::MAX)), "{bound:?} {calls:#?}");
            }
        }
    }
}

#[test]
fn the_search_finds_what_no_queue_does() {
    let call = |called, returned, event| Call { called, returned, event };
    let two = [call(0, 1, Event::Sent(1)), call(2, 3, Event::Sent(2))];
    let with = |rest: &[Call], bound| is_allowed(&[&two, rest].concat(), bound);
    assert!(with(&[call(4, 5, Event::Received(1)), call(6, 7, Event::Received(2))], 2));
    assert!(with(&[call(4, 7, Event::Received(2)), call(5, 6, Event::Received(1))], 2));
    assert!(!with(&[call(4, 5, Event::Received(2))], 2), "out of order");
    assert!(!with(&[call(4, 5, Event::Empty)], 2), "overlooked");
    assert!(!with(&[call(4, 5, Event::Received(1)), call(6, 7, Event::Received(1))], 2), "twice");
    assert!(!with(&[], 1), "too many");
    assert!(!with(&[call(4, 5, Event::Full)], 3), "there is room");
    assert!(with(&[call(4, 5, Event::Full)], 2));
    assert!(is_allowed(&[call(0, 3, Event::Sent(1)), call(1, 2, Event::Received(1))], 0));
    assert!(
        !is_allowed(&[call(0, 1, Event::Sent(1)), call(2, 3, Event::Received(1))], 0),
        "they did not meet"
    );
}
