//! What a queue and its fibers share: the inbox, the function with the tasks that it has yet to be given, and those who wait for the end.
//!
//! Who has the right to be the consumer is the [`Inbox`]'s matter. It has the function to itself while it runs: it takes it out, and puts it back before
//! it gives the right up.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use super::batch::Batch;
use super::inbox::{AfterLast, ConsumerAction, Inbox};
use super::lane::{Lanes, Stack, Urgency};
use super::report::{JoinError, message};
use crate::context::Context;
use crate::fiber;
use crate::launch;
use crate::rt::sync::{AtomicU64, Ordering};
use crate::rt::{self, Attributes, FiberHost, GaveUp, Limit, OnClose, Place, Queue, WaitKind};

/// How the fibers are to be.
#[derive(Debug, Default)]
pub(super) struct WorkSettings {
    pub(super) name: Option<Box<str>>,
    pub(super) stack_size: Option<usize>,
}

/// The function that does the work.
pub(super) type Work<T> = Box<dyn FnMut(Batch<'_, T>) + Send>;

/// What whoever does the work has to itself.
struct Consumer<T> {
    lanes: Lanes<T>,
    work: Work<T>,
    /// It is called once more at the end.
    hears_of_end: bool,
}

/// The queue.
pub(super) struct WorkShared<T> {
    inbox: Inbox<T>,
    /// Those who join wait in it.
    end: Queue<WorkState<T>, ()>,
    /// The fiber that was the consumer last.
    runner: AtomicU64,
    host: Arc<FiberHost>,
    context: Context,
    settings: WorkSettings,
    location: &'static Location<'static>,
}

struct WorkState<T> {
    /// None while there is a consumer, which has it, and at the end.
    consumer: Option<Consumer<T>>,
    report: JoinError,
    /// There was no fiber to be had: whoever found that out sees to the rest.
    is_refused: bool,
    is_over: bool,
}

impl<T: Send + 'static> WorkShared<T> {
    #[track_caller]
    pub(super) fn new(settings: WorkSettings, hears_of_end: bool, work: Work<T>) -> Arc<Self> {
        let consumer = Some(Consumer { lanes: Lanes::new(), work, hears_of_end });
        let shared = Arc::new(Self {
            inbox: Inbox::new(),
            end: Queue::new(WorkState {
                consumer,
                report: JoinError::default(),
                is_refused: false,
                is_over: false,
            }),
            runner: AtomicU64::new(0),
            host: launch::site().host().clone(),
            context: Context::current(),
            settings,
            location: Location::caller(),
        });
        if !shared.host.close_listeners.add(&shared) {
            shared.stop();
        }
        shared
    }

    /// # Errors
    ///
    /// If it was stopped, or there is no fiber to be had. The task comes back.
    pub(super) fn push(self: &Arc<Self>, task: T, urgency: Urgency) -> Result<(), T> {
        match self.inbox.push(task, urgency)? {
            ConsumerAction::Nothing => Ok(()),
            ConsumerAction::Start => self.start().map_err(|mut left| {
                // It was the first one, or there would have been a consumer.
                let task = left.pop().expect("it is there until it is taken");
                self.lose(left);
                task
            }),
        }
    }

    /// Takes no more.
    pub(super) fn stop(self: &Arc<Self>) {
        if self.inbox.is_stopped() || self.inbox.stop() == ConsumerAction::Nothing {
            return;
        }
        let hears_of_end = self.end.lock().consumer.as_ref().is_some_and(|consumer| consumer.hears_of_end);
        if !hears_of_end {
            self.conclude();
        } else if let Err(left) = self.start() {
            self.lose(left);
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.inbox.is_stopped()
    }

    /// Makes a consumer, for whoever has the right to be it.
    ///
    /// # Errors
    ///
    /// If there is no fiber to be had. It is stopped then, and these are the tasks that it had, the oldest on top; they are still to be [lost](Self::lose).
    fn start(self: &Arc<Self>) -> Result<(), Stack<T>> {
        let attributes = Attributes {
            name: self.settings.name.clone(),
            stack_size: self.settings.stack_size,
            // What was accepted is to be done, however many fibers there are.
            is_limited: false,
            ..Attributes::new(self.location)
        };
        let mut turn = ConsumerTurn(Some(self.clone()));
        match fiber::spawn_at(&self.host, attributes, move || turn.run()) {
            Ok(_detached) => Ok(()),
            Err(error) => {
                self.end.lock().is_refused = true;
                drop(error);
                Err(self.empty())
            }
        }
    }

    /// Takes no more, and has no tasks; these are the ones that it had. For the consumer.
    fn empty(&self) -> Stack<T> {
        // The right is the caller's already.
        let _ = self.inbox.stop();
        let mut left = Stack::new();
        self.inbox.take().for_each(|node| left.push(node));
        left
    }

    /// These are not done, and nothing more is. For the consumer. Their destructors may panic, of which nobody can be told.
    fn lose(&self, mut left: Stack<T>) {
        self.note_loss(left.len);
        while left.len > 0 {
            rt::catch_panic(|| drop(left.pop()));
        }
        self.conclude();
    }

    /// So many are not done, and the last call is not made if there was to be one.
    fn note_loss(&self, many: usize) {
        let mut end = self.end.lock();
        end.report.lose(many);
        if end.consumer.as_ref().is_some_and(|consumer| consumer.hears_of_end) {
            end.report.miss_last_call();
        }
    }

    /// It is over: the function is dropped, and those who wait go on. For the consumer.
    fn conclude(&self) {
        self.host.close_listeners.remove(self);
        let consumer = self.end.lock().consumer.take();
        if let Some(Consumer { lanes, work, .. }) = consumer {
            // One after the other: both are the user's, and may panic.
            let _ = (self.guarded(|| drop(lanes)), self.guarded(|| drop(work)));
        }
        self.end.lock().is_over = true;
        self.end.wake_all(|()| ());
    }

    /// Does the work until nothing is left. For the consumer.
    fn run(&self) {
        // Relaxed: whoever it concerns is this fiber itself.
        self.runner.store(rt::caller().get(), Ordering::Relaxed);
        while let Some(mut consumer) = self.take_consumer() {
            consumer.lanes.add(self.inbox.take());
            if !consumer.lanes.is_empty() {
                self.call(&mut consumer);
            }
            let has_more = !consumer.lanes.is_empty();
            self.end.lock().consumer = Some(consumer);
            match if has_more { AfterLast::Tasks } else { self.inbox.finish() } {
                // Others had no turn while this one worked.
                AfterLast::Tasks => _ = rt::give_way(),
                AfterLast::Nothing => return,
                AfterLast::TheEnd => return self.end(),
            }
        }
    }

    /// Calls the function, which has something to take. If it panics before it does, the first task is lost: it would be called with the same ones for
    /// ever.
    fn call(&self, consumer: &mut Consumer<T>) {
        let Consumer { lanes, work, .. } = consumer;
        let given = lanes.given();
        if self.guarded(|| work(Batch::new(&self.inbox, lanes))).is_ok() || lanes.given() != given {
            return;
        }
        let first = Batch::new(&self.inbox, lanes).next();
        self.end.lock().report.lose(1);
        let _ = self.guarded(|| drop(first));
    }

    fn take_consumer(&self) -> Option<Consumer<T>> {
        self.end.lock().consumer.take()
    }

    /// Nothing more will come.
    fn end(&self) {
        if let Some(mut consumer) = self.take_consumer() {
            if consumer.hears_of_end {
                let _ = self.guarded(|| (consumer.work)(Batch::last(&self.inbox, &mut consumer.lanes)));
            }
            self.end.lock().consumer = Some(consumer);
        }
        self.conclude();
    }

    /// Calls a user's code. A panic is counted.
    ///
    /// # Errors
    ///
    /// If there was one.
    fn guarded(&self, call: impl FnOnce()) -> Result<(), Panicked> {
        catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
            let mut message = message(&*payload);
            rt::discard_panic(payload);
            self.end.lock().report.note(&mut message);
            Panicked
        })
    }

    /// Waits until it is over.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    ///
    /// # Panics
    ///
    /// If the caller does the work.
    #[track_caller]
    pub(super) fn join(&self, limit: Limit) -> Result<Result<(), JoinError>, GaveUp> {
        let is_runner = NonZero::new(self.runner.load(Ordering::Relaxed)) == Some(rt::caller());
        assert!(!is_runner, "a queue's own work cannot join it: it would wait for ever");
        let (outcome, ()) =
            self.end.wait(WaitKind::WorkQueue, (), limit, |end, ()| (!end.is_over).then_some(Place::Back));
        outcome.into_result()?;
        Ok(self.end.lock().report.clone().into_result())
    }
}

/// A user's code did, and was noted.
struct Panicked;

/// What is there is still done; the last call is made by a fiber that is still let in.
impl<T: Send + 'static> OnClose for WorkShared<T> {
    fn at_close(self: Arc<Self>) {
        self.stop();
    }
}

/// The right to be the consumer, until it was. If it never is, since its fiber was discarded, all that the queue has is lost.
struct ConsumerTurn<T: Send + 'static>(Option<Arc<WorkShared<T>>>);

impl<T: Send + 'static> ConsumerTurn<T> {
    fn run(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.context.run(|| shared.run());
        }
    }
}

impl<T: Send + 'static> Drop for ConsumerTurn<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take().filter(|shared| !shared.end.lock().is_refused) {
            shared.lose(shared.empty());
        }
    }
}
