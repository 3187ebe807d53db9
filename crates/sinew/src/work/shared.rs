//! The state that a queue and its fibers share: the inbox, the function with its remaining tasks,
//! and the waiters for the end.
//!
//! The [`Inbox`] decides which fiber has the right to be the consumer. The consumer takes the
//! function out while it runs, and puts it back before it gives up the right.

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

/// Settings for the fibers.
#[derive(Debug, Default)]
pub(super) struct WorkSettings {
    pub(super) name: Option<Box<str>>,
    pub(super) stack_size: Option<usize>,
}

/// The function that does the work.
pub(super) type Work<T> = Box<dyn FnMut(Batch<'_, T>) + Send>;

/// The data of the consumer.
struct Consumer<T> {
    lanes: Lanes<T>,
    work: Work<T>,
    /// Whether the function is called once more at the end.
    hears_of_end: bool,
}

/// The queue.
pub(super) struct WorkShared<T> {
    inbox: Inbox<T>,
    /// Callers of `join` wait in it.
    end: Queue<WorkState<T>, ()>,
    /// The last fiber that was the consumer.
    runner: AtomicU64,
    host: Arc<FiberHost>,
    context: Context,
    settings: WorkSettings,
    location: &'static Location<'static>,
}

struct WorkState<T> {
    /// `None` after the end, and while a consumer runs, which has taken it.
    consumer: Option<Consumer<T>>,
    report: JoinError,
    /// Whether no fiber could be started. The caller of `start` then handles the rest.
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

    /// Pushes a task.
    ///
    /// # Errors
    ///
    /// Returns the task if the queue is stopped, or if no fiber could be started.
    pub(super) fn push(self: &Arc<Self>, task: T, urgency: Urgency) -> Result<(), T> {
        match self.inbox.push(task, urgency)? {
            ConsumerAction::Nothing => Ok(()),
            ConsumerAction::Start => self.start().map_err(|mut left| {
                // The task was the first one, or there would have been a consumer.
                let task = left.pop().expect("it is there until it is taken");
                self.lose(left);
                task
            }),
        }
    }

    /// Stops the queue: it accepts no more tasks.
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

    /// Starts a fiber as the consumer. The caller has the right to be the consumer.
    ///
    /// # Errors
    ///
    /// If no fiber could be started, stops the queue and returns its tasks, the oldest on top. The
    /// caller has to [lose](Self::lose) them.
    fn start(self: &Arc<Self>) -> Result<(), Stack<T>> {
        let attributes = Attributes {
            name: self.settings.name.clone(),
            stack_size: self.settings.stack_size,
            // Accepted work is to be done, however many fibers there are.
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

    /// Stops the queue and takes all its tasks. Called by the consumer.
    fn empty(&self) -> Stack<T> {
        // The caller already has the right to be the consumer.
        let _ = self.inbox.stop();
        let mut left = Stack::new();
        self.inbox.take().for_each(|node| left.push(node));
        left
    }

    /// Drops tasks that will not be done, and ends the queue. Called by the consumer. Panics of
    /// their destructors cannot be reported.
    fn lose(&self, mut left: Stack<T>) {
        self.note_loss(left.len);
        while left.len > 0 {
            rt::catch_panic(|| drop(left.pop()));
        }
        self.conclude();
    }

    /// Records lost tasks, and that the last call is not made if there was to be one.
    fn note_loss(&self, many: usize) {
        let mut end = self.end.lock();
        end.report.lose(many);
        if end.consumer.as_ref().is_some_and(|consumer| consumer.hears_of_end) {
            end.report.miss_last_call();
        }
    }

    /// Ends the queue: drops the function, and wakes the callers of `join`. Called by the consumer.
    fn conclude(&self) {
        self.host.close_listeners.remove(self);
        let consumer = self.end.lock().consumer.take();
        if let Some(Consumer { lanes, work, .. }) = consumer {
            // Separately: both drops run user code, which may panic.
            let _ = (self.guarded(|| drop(lanes)), self.guarded(|| drop(work)));
        }
        self.end.lock().is_over = true;
        self.end.wake_all(|()| ());
    }

    /// Does the work until nothing is left. Called by the consumer.
    fn run(&self) {
        // Relaxed: a fiber compares it with itself only.
        self.runner.store(rt::caller().get(), Ordering::Relaxed);
        while let Some(mut consumer) = self.take_consumer() {
            consumer.lanes.add(self.inbox.take());
            if !consumer.lanes.is_empty() {
                self.call(&mut consumer);
            }
            let has_more = !consumer.lanes.is_empty();
            self.end.lock().consumer = Some(consumer);
            match if has_more { AfterLast::Tasks } else { self.inbox.finish() } {
                // Other fibers of the worker have not run in the meantime.
                AfterLast::Tasks => _ = rt::give_way(),
                AfterLast::Nothing => return,
                AfterLast::TheEnd => return self.end(),
            }
        }
    }

    /// Calls the function, for which there are tasks. If it panics before it takes one, the first
    /// task is lost: otherwise the function would be called with the same tasks forever.
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

    /// Makes the last call, after which no more tasks arrive, and ends the queue.
    fn end(&self) {
        if let Some(mut consumer) = self.take_consumer() {
            if consumer.hears_of_end {
                let _ = self.guarded(|| (consumer.work)(Batch::last(&self.inbox, &mut consumer.lanes)));
            }
            self.end.lock().consumer = Some(consumer);
        }
        self.conclude();
    }

    /// Calls user code, and records a panic.
    ///
    /// # Errors
    ///
    /// Returns an error if the code panicked.
    fn guarded(&self, call: impl FnOnce()) -> Result<(), Panicked> {
        catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
            let mut message = message(&*payload);
            rt::discard_panic(payload);
            self.end.lock().report.note(&mut message);
            Panicked
        })
    }

    /// Waits until the queue has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    ///
    /// # Panics
    ///
    /// Panics if the caller is the consumer.
    #[track_caller]
    pub(super) fn join(&self, limit: Limit) -> Result<Result<(), JoinError>, GaveUp> {
        let is_runner = NonZero::new(self.runner.load(Ordering::Relaxed)) == Some(rt::caller());
        assert!(!is_runner, "a queue's own work cannot join it: it would wait forever");
        let (outcome, ()) =
            self.end.wait(WaitKind::WorkQueue, (), limit, |end, ()| (!end.is_over).then_some(Place::Back));
        outcome.into_result()?;
        Ok(self.end.lock().report.clone().into_result())
    }
}

/// User code panicked, which was recorded.
struct Panicked;

/// Accepted tasks are still done. The last call is made by a fiber that may still be spawned.
impl<T: Send + 'static> OnClose for WorkShared<T> {
    fn at_close(self: Arc<Self>) {
        self.stop();
    }
}

/// The right to be the consumer. If the fiber is discarded before it runs, all tasks of the queue
/// are lost.
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
