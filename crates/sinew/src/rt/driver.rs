//! What a worker sleeps in: epoll with the descriptors that are watched there, and the core's timers.
//!
//! # Safety
//!
//! Trusted with waking waiters: a timer that is set has its waiter waiting, or about to cancel it under the same lock. And with telling timers
//! that call back that they are due, under that lock.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::any::Any;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use sinew_sched::{Core, Driver};

use super::alarms::{Alarms, BATCH, Ring};
use super::call::Call;
use super::clock;
use super::control::Control;
use super::desk::{Desk, Drawer, Outlook};
use super::due::{Due, Wakes};
use super::engine::Engine;
use super::epoll::{Epoll, Events};
use super::io::{Source, Token, Watched};
use super::local::Local;
use super::run;
use super::spawn::Site;
use super::starving;
use super::timers::TimerId;
use super::tls;
use super::unwind;
use super::waiter::Waiter;
use super::word::Cause;

/// What one worker sleeps in.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    epoll: Epoll,
    /// The descriptors that are watched here.
    watched: Watched,
    alarms: Alarms<Due, Drawer>,
    outlook: Outlook,
    /// The number of its worker, and who has that.
    worker: usize,
    engine: Weak<Engine>,
}

impl CoreDriver {
    fn new(engine: Weak<Engine>, worker: usize) -> io::Result<Arc<Self>> {
        let (alarms, outlook) = (Alarms::new(clock::now()), Outlook::default());
        Ok(Arc::new(Self { epoll: Epoll::new()?, watched: Watched::new(), alarms, outlook, worker, engine }))
    }

    /// Ends a wait at this moment, unless the timer is cancelled. From any thread. Returns `None` if the runtime is over, and the
    /// wait with it.
    pub(crate) fn set_timer(&self, when: Instant, waiter: Waiter, wakes: Wakes) -> Option<TimerId> {
        self.at_desk(|desk| desk.set_wake(when, waiter, wakes))
    }

    /// Cancels a timer, from any thread. Does nothing if it has ended its wait.
    pub(crate) fn cancel_timer(&self, timer: TimerId) {
        self.at_desk(|desk| desk.cancel_wake(timer));
    }

    /// Calls `body` under the lock of the timers, from any thread. It does not come here again, nor run what is a user's.
    #[inline]
    pub(crate) fn at_desk<R>(&self, body: impl FnOnce(&mut Desk<'_>) -> R) -> R {
        let mut desk = Desk::new(self.alarms.hold(), &self.outlook);
        let result = body(&mut desk);
        let errands = desk.leave();
        match errands.ring {
            // It sees to the rest itself when it is up.
            Ring::Now => self.epoll.ring(),
            Ring::No if errands.asks => self.ask_for_a_watch(),
            Ring::No => {}
        }
        result
    }

    /// This worker is awake, and may compute for long: an idle one is to look here now and then.
    #[cold]
    fn ask_for_a_watch(&self) {
        match tls::local().filter(|local| self.is_of(local)) {
            Some(local) => local.context().begin_watch(),
            None => self.engine.upgrade().into_iter().for_each(|engine| engine.begin_watch(self.worker)),
        }
    }

    fn is_of(&self, local: &Local) -> bool {
        ptr::eq(&*local.driver, self)
    }

    /// Ends the waits whose time has come, and has fibers call back for whom it has. Returns how many.
    fn fire(&self) -> usize {
        let (mut fired, mut calls) = (0, Vec::new());
        self.alarms.fire(clock::now, |batch| {
            // With many timers, what they are about is seldom in the cache, and fetching many things at once takes little more time than
            // fetching one.
            batch.iter().flatten().for_each(Due::prefetch);
            let mut here = [None; BATCH];
            for (due, stack) in batch.into_iter().flatten().zip(&mut here) {
                self.outlook.remove(&due);
                match due {
                    Due::Wake(waiter, _) => {
                        // SAFETY: the waiting side passes the lock that is held here before it goes on, to cancel the timer.
                        let (is_woken, fiber) = unsafe { wake(waiter) };
                        fired += usize::from(is_woken);
                        *stack = fiber;
                    }
                    Due::Call(timer) => {
                        // SAFETY: a timer is set at its home, whose lock is held here.
                        calls.push(unsafe { Call::new(timer) });
                    }
                }
            }
            // SAFETY: they have just been woken, and this thread, which alone may run them, has run nothing since.
            here.into_iter().flatten().for_each(|fiber| unsafe { run::fetch(fiber) });
        });
        fired + self.call(calls)
    }

    /// Has those go on who waited for descriptors that are ready. Returns how many.
    fn look_at_descriptors(&self) -> io::Result<usize> {
        if self.watched.is_empty() {
            return Ok(0);
        }
        let mut events = Events::new();
        match self.epoll.look(&mut events) {
            Ok(()) => Ok(self.watched.tell(&events)),
            Err(Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the fibers, without the lock: that of a sibling does as well, if it is the one who looks. Returns how many.
    fn call(&self, calls: Vec<Call>) -> usize {
        let count = calls.len();
        if let (true, Some(engine)) = (count != 0, self.engine.upgrade()) {
            // Not discarded by a shutdown that ends meanwhile: it counts what it discards.
            engine.deliver(|| calls.into_iter().for_each(|call| call.start(Site::of(&engine))));
        }
        count
    }

    /// Watches a descriptor from now on, under the number that is returned.
    ///
    /// # Errors
    ///
    /// If the kernel does not let it.
    pub(crate) fn watch(&self, source: &Arc<Source>, fd: BorrowedFd<'_>) -> io::Result<Token> {
        self.watched.enter(source, fd.as_raw_fd(), |token| self.epoll.add(fd, token))
    }

    /// Watches a descriptor no more, which had this number. It is open still; if not, what has its number by now is left alone.
    pub(crate) fn unwatch(&self, token: Token, fd: RawFd) {
        self.watched.leave(token, fd, || self.epoll.remove(fd));
    }

    /// A fiber that may move, or one elsewhere, waits for one of the descriptors: others are to look here, too, while this worker is busy.
    pub(crate) fn begin_roaming(&self) {
        if self.watched.begin_roaming() {
            self.ask_for_a_watch();
        }
    }

    pub(crate) fn end_roaming(&self) {
        self.watched.end_roaming();
    }

    /// Nobody looks here any more, for now or for good: those who wait for descriptors are told to do so elsewhere.
    pub(crate) fn send_away(&self) {
        self.watched.all().into_iter().for_each(|(token, source)| source.lose_home(self, token));
    }

    /// Others need not watch any more, unless there is something.
    fn end_watch(&self) {
        if self.outlook.is_watched_in_vain() {
            self.at_desk(|desk| desk.end_watch());
        }
    }

    /// The runtime is over: nobody waits any longer for callbacks that may never end.
    pub(crate) fn abandon_waits(&self) {
        self.at_desk(|desk| desk.abandon());
    }

    /// The runtime is gone: drops all that was set. That runs destructors, on the calling thread or fiber.
    pub(crate) fn close(&self) {
        self.send_away();
        let all = self.at_desk(|desk| desk.close());
        all.for_each(|due| unwind::catch(|| drop(due)));
    }

    /// Whether the first timer is past its time by so much.
    pub(crate) fn is_late(&self, now: Instant, by: Duration) -> bool {
        self.alarms.is_late(now, by)
    }
}

/// Ends a wait whose time is over. Whether it did, and which fiber goes on here and nowhere else because of that.
///
/// # Safety
///
/// As for [`Waiter::wake`].
unsafe fn wake(waiter: Waiter) -> (bool, Option<NonNull<Control>>) {
    // SAFETY: the caller's promise.
    let fiber = tls::local().and_then(|local| unsafe { waiter.fiber_of(local) });
    // SAFETY: as above.
    let is_woken = unsafe { waiter.wake(Cause::Time) };
    (is_woken, fiber.filter(|_| is_woken))
}

/// A share of a worker's driver, for the scheduler.
struct DriverShare(Arc<CoreDriver>);

/// A new driver, for the scheduler.
pub(crate) fn make(engine: Weak<Engine>, worker: usize) -> io::Result<(Arc<CoreDriver>, Box<dyn Driver>)> {
    let driver = CoreDriver::new(engine, worker)?;
    Ok((driver.clone(), Box::new(DriverShare(driver))))
}

/// The driver of the core that a worker runs on, if it is one of ours.
pub(crate) fn of(core: &Core) -> Option<Arc<CoreDriver>> {
    let share = core.driver().as_any()?.downcast_ref::<DriverShare>()?;
    Some(share.0.clone())
}

impl Driver for DriverShare {
    fn look(&self) -> io::Result<usize> {
        let told = self.0.look_at_descriptors()?;
        let fired = told + self.0.fire();
        if !tls::local().is_some_and(|local| self.0.is_of(local)) {
            self.0.end_watch();
        }
        Ok(fired + starving::look())
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        let local = tls::local();
        // A little at a time: whoever wakes this worker need not wait for all of it.
        if local.is_some_and(Local::give_back) {
            return self.look().map(drop);
        }
        let to_trim = local.and_then(|local| local.engine().stacks.time_to_trim());
        self.0.end_watch();
        let to_next = self.0.alarms.begin_sleep(clock::now);
        let time = [at_most, to_next, starving::rest(), to_trim].into_iter().flatten().min();
        let mut events = Events::new();
        let slept = match time.is_none_or(|time| !time.is_zero()) {
            true => self.0.epoll.wait(time, &mut events),
            false => Ok(()),
        };
        self.0.alarms.end_sleep(clock::now);
        self.0.watched.tell(&events);
        self.0.fire();
        slept
    }

    fn unpark(&self) {
        self.0.epoll.ring();
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_watching(&self) -> bool {
        !self.0.watched.is_empty() || !self.0.alarms.is_empty() || starving::is_watching()
    }

    fn is_watching_for_others(&self) -> bool {
        self.0.outlook.is_watched() || self.0.watched.is_roamed()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Weak;
    use std::time::Duration;

    use super::super::word::{Cause, Ends};
    use super::{Waiter, Wakes, clock, make, tls};

    #[test]
    fn a_look_counts_the_waits_that_it_ends() {
        let (driver, share) = make(Weak::new(), 0).unwrap();
        let block = tls::thread_block();
        let wait = block.begin_wait(Ends::ByEvent);
        assert!(driver.set_timer(clock::now(), Waiter::thread(block, wait), Wakes::Here).is_some());
        assert_eq!(share.look().unwrap(), 1);
        assert_eq!(block.sleep(wait, None), Cause::Time);
        assert_eq!(share.look().unwrap(), 0);
    }

    #[test]
    fn others_watch_while_a_timer_concerns_them() {
        let (driver, _share) = make(Weak::new(), 0).unwrap();
        let block = tls::thread_block();
        for _ in 0..3 {
            let wait = block.begin_wait(Ends::ByEvent);
            let later = clock::now() + Duration::from_secs(3_600);
            let timer = driver
                .set_timer(later, Waiter::thread(block, wait), Wakes::Anywhere)
                .expect("it is not over");
            assert!(driver.outlook.is_watched() && !driver.outlook.is_watched_in_vain());
            driver.end_watch();
            assert!(driver.outlook.is_watched(), "there is a timer");
            driver.cancel_timer(timer);
            assert!(driver.outlook.is_watched_in_vain());
            driver.end_watch();
            assert!(!driver.outlook.is_watched());
            assert_eq!(block.cancel(wait), Cause::Event);
        }
    }
}
