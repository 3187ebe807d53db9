//! The tasks that a consumer has, in the order in which it hands them out. Knows no other threads.

use std::iter;

use crate::rt::drop_each;

/// Whether a task goes before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    Normal,
    Urgent,
}

/// A task in a list: that of an inbox, or a [`Stack`].
pub(super) struct LaneNode<T> {
    pub(super) task: T,
    urgency: Urgency,
    /// In an inbox: the address of the next older node.
    pub(super) older: usize,
    below: Option<Box<Self>>,
}

impl<T> LaneNode<T> {
    pub(super) fn new(task: T, urgency: Urgency) -> Self {
        Self { task, urgency, older: 0, below: None }
    }
}

/// A stack of tasks.
pub(super) struct Stack<T> {
    top: Option<Box<LaneNode<T>>>,
    pub(super) len: usize,
}

impl<T> Stack<T> {
    pub(super) fn new() -> Self {
        Self { top: None, len: 0 }
    }

    pub(super) fn push(&mut self, mut node: Box<LaneNode<T>>) {
        node.below = self.top.take();
        self.top = Some(node);
        self.len += 1;
    }

    fn pop_node(&mut self) -> Option<Box<LaneNode<T>>> {
        let mut node = self.top.take()?;
        self.top = node.below.take();
        self.len -= 1;
        Some(node)
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.pop_node().map(|node| node.task)
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        // One by one: the drop of each node would call that of the next one recursively.
        drop_each(|| self.pop());
    }
}

/// A queue of tasks, as two stacks: tasks are popped from `front`, with the oldest on top, and
/// pushed on `back`, with the newest on top. `back` is turned over when `front` is empty.
struct Lane<T> {
    front: Stack<T>,
    back: Stack<T>,
}

impl<T> Lane<T> {
    fn new() -> Self {
        Self { front: Stack::new(), back: Stack::new() }
    }

    fn len(&self) -> usize {
        self.front.len + self.back.len
    }

    /// Adds tasks that are newer than all in the lane. The oldest of them is on top.
    fn append(&mut self, mut newer: Stack<T>) {
        if self.len() == 0 {
            self.front = newer;
            return;
        }
        iter::from_fn(|| newer.pop_node()).for_each(|node| self.back.push(node));
    }

    fn pop(&mut self) -> Option<T> {
        if self.front.len == 0 {
            iter::from_fn(|| self.back.pop_node()).for_each(|node| self.front.push(node));
        }
        self.front.pop()
    }
}

/// The tasks of a consumer.
pub(super) struct Lanes<T> {
    urgent: Lane<T>,
    normal: Lane<T>,
    /// The number of tasks that were handed out. It may wrap around.
    given: usize,
}

impl<T> Lanes<T> {
    pub(super) fn new() -> Self {
        Self { urgent: Lane::new(), normal: Lane::new(), given: 0 }
    }

    /// Adds the tasks that have arrived, given the newest first.
    pub(super) fn add(&mut self, newest_first: impl Iterator<Item = Box<LaneNode<T>>>) {
        let (mut urgent, mut normal) = (Stack::new(), Stack::new());
        for node in newest_first {
            match node.urgency {
                Urgency::Urgent => urgent.push(node),
                Urgency::Normal => normal.push(node),
            }
        }
        self.urgent.append(urgent);
        self.normal.append(normal);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.urgent() + self.normal() == 0
    }

    /// Returns the number of urgent tasks.
    pub(super) fn urgent(&self) -> usize {
        self.urgent.len()
    }

    /// Returns the number of tasks that are not urgent.
    pub(super) fn normal(&self) -> usize {
        self.normal.len()
    }

    /// Returns the number of tasks that were handed out so far, modulo its range. It differs from
    /// an earlier value if one was.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    pub(super) fn pop_urgent(&mut self) -> Option<T> {
        let task = self.urgent.pop();
        self.count(task)
    }

    pub(super) fn pop_normal(&mut self) -> Option<T> {
        let task = self.normal.pop();
        self.count(task)
    }

    fn count(&mut self, task: Option<T>) -> Option<T> {
        self.given = self.given.wrapping_add(usize::from(task.is_some()));
        task
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    struct Bomb(usize, #[expect(dead_code, reason = "it is counted")] Rc<()>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("bomb {}", self.0);
        }
    }

    /// Tasks with panicking destructors are in all four stacks.
    #[test]
    fn all_tasks_are_dropped_even_if_destructors_panic() {
        let (mut lanes, count) = (Lanes::new(), Rc::new(()));
        for number in 0..12 {
            let urgency = if number % 2 == 0 { Urgency::Urgent } else { Urgency::Normal };
            lanes.add(iter::once(Box::new(LaneNode::new(Bomb(number, count.clone()), urgency))));
        }
        assert_eq!(Rc::strong_count(&count), 13);
        let panic = catch_unwind(AssertUnwindSafe(|| drop(lanes))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("bomb 0"));
        assert_eq!(Rc::strong_count(&count), 1);
    }
}
