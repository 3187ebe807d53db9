//! The thief's patience: a lone task that it leaves alone is not forgotten.

use loom::sync::Arc;
use loom::thread;

use super::{Taken, check};
use crate::idle::Idle;
use crate::queue::deque::{Steal, deque};

/// A parent pushes one child and runs until another worker has taken it, like a parent that spins
/// until the child sets a flag. The thief leaves the child alone once, and may sleep only when it
/// sees nothing at all.
fn spare() {
    let taken = Taken::new(1);
    let idle = Arc::new(Idle::new(2));
    let parker = Arc::new(super::inbox::Parker::new());
    let (owner, thief) = deque();
    let other = {
        let (taken, idle, parker) = (taken.clone(), idle.clone(), parker.clone());
        thread::spawn(move || {
            let mut searching = Some(idle.search_anyway());
            let mut spared = false;
            while taken.total() == 0 {
                match thief.len() {
                    0 => {
                        idle.lie_down(1, searching.take());
                        if thief.len() == 0 {
                            parker.sleep();
                            drop(parker.inbox.take());
                        }
                        searching = Some(idle.get_up(1).unwrap_or_else(|| idle.search_anyway()));
                    }
                    _ if !spared => spared = true,
                    _ => {
                        if let Steal::Task(task) = thief.steal() {
                            drop(task);
                        }
                    }
                }
            }
            let _ = idle.leave(searching.take().expect("it is searching"));
        })
    };
    owner.push_loudly(taken.task(0));
    let _ = idle.work_arrived(1, || owner.len() != 0, |_| parker.deliver(parker.inbox.tell()));
    other.join().unwrap();
    taken.assert_each_once();
}

#[test]
fn a_spared_task_is_taken_in_the_end() {
    check(3, spare);
}
