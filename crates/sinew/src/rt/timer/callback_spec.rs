//! Settings of the fibers that call back when a timer is due.

use std::panic::Location;

use crate::rt::wait::{Values, region};

/// How the fibers are to be that call back.
#[derive(Debug)]
pub(crate) struct CallbackSpec {
    pub(crate) location: &'static Location<'static>,
    /// Most have none.
    settings: Option<Box<CallbackSettings>>,
    /// Those in force where the timer was made.
    pub(crate) values: Values,
}

/// What users may set of it.
#[derive(Debug)]
pub(crate) struct CallbackSettings {
    pub(crate) name: Option<Box<str>>,
    pub(crate) stack_size: Option<usize>,
}

impl CallbackSpec {
    /// For a timer that is made here.
    #[inline]
    pub(crate) fn new(location: &'static Location<'static>, settings: Option<Box<CallbackSettings>>) -> Self {
        Self { location, settings, values: region::current_values() }
    }

    /// Their name and the size of their stacks.
    pub(crate) fn name_and_stack(&self) -> (Option<Box<str>>, Option<usize>) {
        self.settings.as_ref().map_or((None, None), |settings| (settings.name.clone(), settings.stack_size))
    }
}
