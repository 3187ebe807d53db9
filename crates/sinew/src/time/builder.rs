//! Settings for a new timer.

use std::io;
use std::panic::Location;

use super::timer::Timer;
use super::timer_id::TimerId;
use crate::fiber::SpawnError;
use crate::launch;
use crate::rt::{self, Callback, CallbackSettings, CallbackSpec, SpawnRefused};
use crate::runtime::Handle;

/// Settings for a new [`Timer`], and for the fibers that run its callback.
///
/// ```
/// use sinew::{fiber, time::{Schedule, Timer}};
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (sender, receiver) = mpsc::channel();
/// let timer = Timer::builder().name("heart".to_owned()).build(move || {
///     sender.send(fiber::current().name().map(str::to_owned)).unwrap();
/// })?;
/// timer.arm(Schedule::after(Duration::ZERO));
/// assert_eq!(receiver.recv().unwrap().as_deref(), Some("heart"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "a timer is made by `build`"]
#[derive(Debug, Default)]
pub struct TimerBuilder<'a> {
    name: Option<String>,
    stack_size: Option<usize>,
    runtime: Option<&'a Handle>,
}

impl TimerBuilder<'_> {
    /// Sets the name of the fibers that run the callback; messages contain it.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the minimum stack size of those fibers, as
    /// [`fiber::Builder::stack_size`](crate::fiber::Builder::stack_size) does.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size.max(1));
        self
    }

    /// Sets the runtime of those fibers. The default is the runtime of the calling fiber, or the
    /// default runtime on a plain thread.
    pub fn runtime(self, runtime: &Handle) -> TimerBuilder<'_> {
        TimerBuilder { name: self.name, stack_size: self.stack_size, runtime: Some(runtime) }
    }

    /// Creates the timer, which is not armed.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no stack of that size.
    #[track_caller]
    pub fn build(self, mut callback: impl FnMut() + Send + 'static) -> io::Result<Timer> {
        self.make(Location::caller(), move |_| callback())
    }

    /// Creates the timer with a callback that receives the timer's id.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`build`](Self::build).
    #[track_caller]
    pub fn build_with_id(self, mut callback: impl FnMut(&TimerId) + Send + 'static) -> io::Result<Timer> {
        self.make(Location::caller(), move |timer| callback(&TimerId::new(timer)))
    }

    #[track_caller]
    fn make(
        self,
        location: &'static Location<'static>,
        body: impl FnMut(&Callback) + Send + 'static,
    ) -> io::Result<Timer> {
        if let Some(Err(reason)) = self.stack_size.map(rt::check_size) {
            return Err(SpawnError::new(SpawnRefused { body, reason }).into());
        }
        let settings =
            CallbackSettings { name: self.name.map(String::into_boxed_str), stack_size: self.stack_size };
        let how = CallbackSpec::new(location, Some(Box::new(settings)));
        let site = match self.runtime {
            Some(runtime) => runtime.site(),
            None => launch::site(),
        };
        Ok(Timer::of(Callback::new(site.home(), how, body)))
    }
}
