//! Settings of the fibers that run the callbacks of timers.

use std::panic::Location;

use crate::rt::wait::{Values, region};

/// Settings of the fibers that run a timer's callback.
#[derive(Debug)]
pub(crate) struct CallbackSpec {
    pub(crate) location: &'static Location<'static>,
    /// Most timers have none.
    settings: Option<Box<CallbackSettings>>,
    /// The values in force where the timer was made.
    pub(crate) values: Values,
}

/// The settings that users may change.
#[derive(Debug)]
pub(crate) struct CallbackSettings {
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: Option<usize>,
}

impl CallbackSpec {
    /// Returns the settings of a timer that is made here.
    #[inline]
    pub(crate) fn new(location: &'static Location<'static>, settings: Option<Box<CallbackSettings>>) -> Self {
        Self { location, settings, values: region::current_values() }
    }

    /// Returns the name of the fibers and the size of their stacks.
    pub(crate) fn name_and_stack(&self) -> (Option<Box<str>>, Option<usize>) {
        self.settings.as_ref().map_or((None, None), |settings| (settings.name.clone(), settings.stack_size))
    }
}
